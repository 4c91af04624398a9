/** The other side breaks the rules of HTTP/1.1. The message never repeats what it sent. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
