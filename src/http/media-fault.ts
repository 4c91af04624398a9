/** Why media could not be fetched. The log tells the code; the caller is told less. */
export type MediaFaultCode =
  | 'ADDRESS'
  | 'ADDRESS_REFUSED'
  | 'CREDENTIALS'
  | 'ENCODING'
  | 'NO_ADDRESS'
  | 'NOT_HTTPS'
  | 'PROTOCOL'
  | 'REDIRECTS'
  | 'STATUS'
  | 'TIMEOUT'
  | 'TOO_LARGE'
  | 'TYPE'
  | 'UNCONNECTED';

/** Media that an address did not give, or that is not wanted. */
export class MediaFault extends Error {
  override readonly name = 'MediaFault';
  readonly code: MediaFaultCode;

  constructor(code: MediaFaultCode, cause?: unknown) {
    super(`The media could not be fetched: ${code}`, { cause });
    this.code = code;
  }
}
