import { connect, type Socket } from 'node:net';

const ANSWER_TIMEOUT_MS = 60_000;

/** A complete HTTP response, its body still in the transfer coding. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One keep-alive connection that carries one request at a time. */
export class SocketClient {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  /** Connects to a port of this machine. */
  static open(port: number): Promise<SocketClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(new SocketClient(socket));
      });
    });
  }

  /** Sends a request and resolves when its response is complete. */
  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection was closed'));
      this.#received = '';
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received += bytes.toString('latin1');
    const answer = readAnswer(this.#received);
    if (answer === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }
}

/** Renders a POST request with a JSON body. */
export function renderRequest(url: URL, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({
    host: url.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

function readAnswer(received: string): Answer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = received.slice(0, headEnd);
  const body = received.slice(headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  // The simulator's text contains no carriage return, so this can only be the last chunk.
  const isWhole = length === undefined ? body.endsWith('0\r\n\r\n') : body.length >= Number(length);
  return isWhole ? { status: Number(head.slice(9, 12)), body } : undefined;
}
