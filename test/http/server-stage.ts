import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import type { IncomingRequest } from '../../src/http/incoming.ts';
import { type OutgoingEvents, OutgoingStream } from '../../src/http/outgoing-stream.ts';
import { type Handler, type RunningServer, startServer } from '../../src/http/server.ts';

/** A stream that a test pushes into. */
export class Pushed implements OutgoingEvents {
  readonly stream = new OutgoingStream(this);
  isGone = false;
  drains = 0;
  onStart(): void {}
  onCancel(): void {
    this.isGone = true;
  }
  onDrain(): void {
    this.drains += 1;
  }
}

export const HUGE_BYTES = 30_000_000;

/** A server with handlers of every kind, and what it has seen. */
export class ServerStage {
  readonly held = new HeldBytes();
  readonly server: RunningServer = startServer({
    host: '127.0.0.1',
    port: 0,
    held: this.held,
    routes: this.#routes(),
    onError: () => ({ status: 500, headers: {}, body: 'failed' }),
    onMalformed: (problem) => ({ status: 400, headers: {}, body: problem }),
  });
  /** The requests whose handlers were called. */
  seen: IncomingRequest[] = [];
  /** The streams that handlers have opened. */
  streams: Pushed[] = [];

  reset(): void {
    this.seen = [];
    this.streams = [];
  }

  open(): Socket {
    const socket = connect({ port: this.server.port, host: '127.0.0.1' });
    socket.on('error', () => socket.destroy());
    return socket;
  }

  /** Sends these pieces over one connection, and returns everything that comes back until it is closed or quiet. */
  async exchange(pieces: readonly string[], quietMs = 150): Promise<string> {
    const socket = this.open();
    const state = { received: '', lastAtMs: performance.now(), isClosed: false };
    socket.on('data', (bytes) => {
      state.received += bytes.toString('latin1');
      state.lastAtMs = performance.now();
    });
    socket.on('close', () => (state.isClosed = true));
    await once(socket, 'connect');
    for (const piece of pieces) {
      socket.write(piece, 'latin1');
      if (pieces.length > 1) await Bun.sleep(5);
    }
    const isQuiet = (): boolean => state.received !== '' && performance.now() - state.lastAtMs >= quietMs;
    while (!state.isClosed && !isQuiet()) await Bun.sleep(5);
    socket.destroy();
    return state.isClosed ? `${state.received}<closed>` : state.received;
  }

  #routes(): Record<string, Handler> {
    return {
      '/echo': async (request, { route }) => {
        this.seen.push(request);
        const body = Buffer.from(await request.bytes()).toString();
        return { status: 200, headers: { 'x-route': route }, body: `${request.method} ${request.url} ${body}` };
      },
      '/unread': async (request) => {
        this.seen.push(request);
        await Bun.sleep(100);
        return { status: 401, headers: {}, body: 'no' };
      },
      '/stream': () => {
        const pushed = new Pushed();
        this.streams.push(pushed);
        return { status: 200, headers: {}, body: pushed.stream };
      },
      '/standard/*': async (request) => {
        const { method, url, headers } = request.standard();
        return Response.json(
          { method, url, agent: headers.get('user-agent') },
          {
            status: 201,
            headers: [
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
            ],
          },
        );
      },
      '/pieces': () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              for (const piece of ['one ', 'two ', 'three']) {
                controller.enqueue(new TextEncoder().encode(piece));
                await Bun.sleep(20);
              }
              controller.close();
            },
          }),
        ),
      '/broken': () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode('begun'));
              await Bun.sleep(20);
              throw new Error('broken');
            },
          }),
        ),
      '/fails': () => Promise.reject(new Error('failed')),
      '/large': (request) => {
        this.seen.push(request);
        return { status: 200, headers: {}, body: 'x'.repeat(50_000) };
      },
      '/long': () => ({ status: 200, headers: {}, body: 'ä'.repeat(3_000_000) }),
      // More than the system's own buffers take.
      '/huge': () => ({ status: 200, headers: {}, body: 'x'.repeat(HUGE_BYTES) }),
      '/injects': () => ({ status: 200, headers: { 'x-name': 'a\r\nset-cookie: b' }, body: '' }),
      '/*': () => ({ status: 404, headers: {}, body: 'nothing here' }),
    };
  }
}

/** The status and the body of each response. */
export function summarise(text: string): string[] {
  return text.split(/(?=HTTP\/1\.1 )/u).map((each) => {
    const [head = '', ...rest] = each.split('\r\n\r\n');
    return `${head.slice(9, 12)} ${rest.join('\r\n\r\n')}`;
  });
}

export const GET = 'GET /echo HTTP/1.1\r\nhost: a\r\n\r\n';
