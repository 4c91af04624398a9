import { Buffer } from 'node:buffer';
import { connect } from 'node:net';

/** What came back over the connection. */
export type Outcome =
  | { readonly type: 'answer'; readonly status: number; readonly contentType: string; readonly body: string }
  /** The server closed the connection without a complete answer. */
  | { readonly type: 'closed'; readonly received: string }
  /** Neither an answer nor a close within the time limit. */
  | { readonly type: 'hang'; readonly received: string };

/** Sends bytes over a connection of their own, cuts it if requested, and reads the first response. */
export function exchangeBytes(options: {
  readonly port: number;
  readonly bytes: Buffer;
  readonly isCut: boolean;
  readonly isHead: boolean;
  readonly timeoutMs: number;
}): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect({ port: options.port, host: '127.0.0.1', allowHalfOpen: true });
  let received: Buffer = Buffer.alloc(0);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const finish = (outcome: Outcome): void => {
    clearTimeout(timer);
    resolve(outcome);
    socket.destroy();
  };
  const text = (): string => received.toString('latin1');
  const close = (): void => finish(readAnswer(received, { isHead: options.isHead, isEnded: true }) ?? { type: 'closed', received: text() });

  socket.on('connect', () => {
    timer = setTimeout(() => finish({ type: 'hang', received: text() }), options.timeoutMs);
    if (options.isCut) socket.end(options.bytes);
    else socket.write(options.bytes);
  });
  socket.on('data', (bytes: Buffer) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    const answer = readAnswer(received, { isHead: options.isHead, isEnded: false });
    if (answer !== undefined) finish(answer);
  });
  socket.on('end', close);
  socket.on('close', close);
  // A reset counts as a close, which follows.
  socket.on('error', close);
  return promise;
}

/** Returns the first final response in the bytes; undefined while it is incomplete. */
function readAnswer(bytes: Buffer, { isHead, isEnded }: { isHead: boolean; isEnded: boolean }): Outcome | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const body = bytes.subarray(end + 4);
  const status = Number(head.slice(9, 12));
  if (status < 200) return readAnswer(body, { isHead, isEnded });
  const contentType = /\r\ncontent-type: ([^\r]*)/iu.exec(head)?.[1] ?? '';
  const answer = (payload: string): Outcome => ({ type: 'answer', status, contentType, body: payload });
  if (isHead) return answer('');
  const length = /\r\ncontent-length: (\d+)/iu.exec(head)?.[1];
  if (length !== undefined) {
    return body.length >= Number(length) ? answer(body.toString('utf8', 0, Number(length))) : undefined;
  }
  if (/\r\ntransfer-encoding: chunked/iu.test(head)) {
    return body.includes('\r\n0\r\n\r\n') || body.toString('latin1', 0, 5) === '0\r\n\r\n' ? answer(body.toString('utf8')) : undefined;
  }
  return isEnded ? answer(body.toString('utf8')) : undefined;
}
