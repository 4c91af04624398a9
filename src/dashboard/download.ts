/**
 * Streams a file while it is generated. Chunks are pulled by the browser, so a slow reader delays the query instead of filling the memory.
 */
export function download(name: string, pieces: AsyncGenerator<string | Uint8Array>): Response {
  const encoder = new TextEncoder();
  const type = name.slice(name.lastIndexOf('.') + 1);
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (type === 'csv') controller.enqueue(encoder.encode(BYTE_ORDER_MARK));
      },
      pull: async (controller) => {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
  const contentType = TYPES[type] ?? 'text/plain; charset=utf-8';
  return new Response(body, { headers: { 'content-type': contentType, 'content-disposition': `attachment; filename="${name}"` } });
}

/** Without it, spreadsheets on Windows read umlauts in a CSV file as other letters. */
const BYTE_ORDER_MARK = '\uFEFF';

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
  gz: 'application/gzip',
};

/** Responses of these types can have any length. */
const STREAMED_TYPES = /^(?:text\/csv|application\/x-ndjson|application\/gzip|text\/event-stream)/u;

/** Returns the body of a response that is passed on while it is generated; undefined if it is passed on as a whole. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | undefined {
  return STREAMED_TYPES.test(response.headers.get('content-type') ?? '') ? (response.body ?? undefined) : undefined;
}
