/** Why media could not be fetched. The log shows the code; clients see less. */
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

/** Media that could not be fetched, or that is not acceptable. */
export class MediaFault extends Error {
  override readonly name = 'MediaFault';
  readonly code: MediaFaultCode;

  constructor(code: MediaFaultCode, cause?: unknown) {
    super(`The media could not be fetched: ${code}`, { cause });
    this.code = code;
  }
}
