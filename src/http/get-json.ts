import type { HttpClient } from './client.ts';

/** The document to fetch, and the limits for it. */
export interface JsonQuestion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Says why there is no document. The message is always our own, so it may be logged. */
export class NoDocument extends Error {
  override readonly name = 'NoDocument';
}

/** Fetches a small JSON document. Throws a NoDocument when there is none. */
export async function getJson(client: HttpClient, { url, headers, timeoutMs, bytesMax, signal }: JsonQuestion): Promise<unknown> {
  const exchange = client.get({ url, headers }, () => undefined);
  const abort = (): void => exchange.abort(new NoDocument('it was abandoned'));
  const timer = setTimeout(() => exchange.abort(new NoDocument(`it did not answer within ${timeoutMs / 1000} seconds`)), timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    const { status } = await exchange.head;
    if (status !== 200) throw new NoDocument(`it answered with status ${status}`);
    const text = await exchange.text(bytesMax);
    if (text === undefined) throw new NoDocument(`its answer has more than ${bytesMax} bytes`);
    return parse(text);
  } catch (error) {
    if (error instanceof NoDocument) throw error;
    throw new NoDocument('it could not be reached', { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // The body of an error response is not read.
    exchange.abort(new NoDocument('it is no longer needed'));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NoDocument('its answer is not JSON', { cause: error });
  }
}
