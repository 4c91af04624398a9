import type { HttpClient } from './client.ts';

/** The document to fetch, and the limits for it. */
export interface JsonRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** The reason why a document could not be fetched. The message is always our own, so it may be logged. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** Fetches a small JSON document. Throws a DocumentError when that fails. */
export async function getJson(client: HttpClient, { url, headers, timeoutMs, bytesMax, signal }: JsonRequest): Promise<unknown> {
  const exchange = client.get({ url, headers });
  const abort = (): void => exchange.abort(new DocumentError('it was abandoned'));
  const timer = setTimeout(() => exchange.abort(new DocumentError(`it did not answer within ${timeoutMs / 1000} seconds`)), timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    const { status } = await exchange.head;
    if (status !== 200) throw new DocumentError(`it answered with status ${status}`);
    const text = await exchange.text(bytesMax);
    if (text === undefined) throw new DocumentError(`its answer has more than ${bytesMax} bytes`);
    return parse(text);
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError('it could not be reached', { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // The body of an error response is not read.
    exchange.abort(new DocumentError('it is no longer needed'));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DocumentError('its answer is not JSON', { cause: error });
  }
}
