import type { Socket } from 'node:net';

/** One HTTP request as read from the socket. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Head {
  readonly request: Omit<RawRequest, 'text'>;
  readonly bodyStart: number;
}

/**
 * Reads requests from one connection and hands them over one at a time. The socket is read all the time, so that a
 * disconnect is noticed at once and not at the next write.
 */
export function receiveRequests(socket: Socket, handle: (request: RawRequest) => Promise<void>): void {
  let received: Buffer[] = [];
  let isHandling = false;

  const takeRequest = (): RawRequest | undefined => {
    const bytes = received.length === 1 ? (received[0] as Buffer) : Buffer.concat(received);
    received = bytes.length === 0 ? [] : [bytes];
    const head = readHead(bytes);
    if (head === undefined) return undefined;
    const body = readBody(bytes, head);
    if (body === undefined) return undefined;
    received = [bytes.subarray(body.end)];
    return { ...head.request, text: body.text };
  };
  const handleAll = async (): Promise<void> => {
    if (isHandling) return;
    isHandling = true;
    for (let request = takeRequest(); request !== undefined; request = takeRequest()) await handle(request);
    isHandling = false;
  };

  socket.on('data', (bytes: Buffer) => {
    received.push(bytes);
    void handleAll();
  });
  socket.on('end', () => socket.destroy());
  // A reset by the other side is a normal way to disconnect. 'close' follows and is what counts.
  socket.on('error', () => undefined);
}

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [requestLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', path = ''] = requestLine.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { request: { method, path, headers }, bodyStart: end + 4 };
}

function readBody(bytes: Buffer, head: Head): { text: string; end: number } | undefined {
  if (head.request.headers['transfer-encoding'] === 'chunked') return readChunkedBody(bytes, head.bodyStart);
  const end = head.bodyStart + Number(head.request.headers['content-length'] ?? 0);
  return bytes.length < end ? undefined : { text: bytes.toString('utf8', head.bodyStart, end), end };
}

function readChunkedBody(bytes: Buffer, start: number): { text: string; end: number } | undefined {
  const parts: Buffer[] = [];
  let position = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), end: next };
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    position = next;
  }
}
