/** The other side does not speak HTTP/1.1 as it should. The message never repeats what it said. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
