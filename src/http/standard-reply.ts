import { setImmediate } from 'node:timers/promises';
import { bufferOf, type ClientConnection } from './client-connection.ts';
import type { IncomingRequest } from './incoming.ts';
import { type OutgoingEvents, OutgoingStream } from './outgoing-stream.ts';

type Part = { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: undefined };

const NO_PART: Part = { done: true };
const NOTHING = new Uint8Array();

/** Sends a standard response. A body that comes in one part is sent with its length, others in chunks as they come. */
export async function sendStandard(response: Response, request: IncomingRequest, connection: ClientConnection): Promise<void> {
  const { status } = response;
  const headers = headersOf(response);
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  const first = (await reader?.read()) ?? NO_PART;
  const second = first.done ? Promise.resolve(NO_PART) : reader?.read();
  const isWhole = (await Promise.race([second, setImmediate()]))?.done === true;
  const body = isWhole ? (first.value ?? NOTHING) : new PulledBody(reader, [first, second]).stream;
  if (!connection.reply(request, { status, headers, body })) await reader?.cancel();
}

/** A body that is read as fast as the client takes it. */
class PulledBody implements OutgoingEvents {
  readonly stream = new OutgoingStream(this);
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #begun: (Part | Promise<Part> | undefined)[];
  #whenDrained: PromiseWithResolvers<void> | undefined;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array> | undefined, begun: (Part | Promise<Part> | undefined)[]) {
    this.#reader = reader;
    this.#begun = begun;
  }

  onStart(): void {
    // A body that is cut short must not look complete.
    this.#pump().catch(() => this.stream.break());
  }

  onDrain(): void {
    this.#whenDrained?.resolve();
    this.#whenDrained = undefined;
  }

  onCancel(): void {
    this.onDrain();
    this.#reader?.cancel().catch(() => undefined);
  }

  async #pump(): Promise<void> {
    for (let part = await this.#next(); part?.done === false; part = await this.#next()) {
      this.stream.writeBytes(bufferOf(part.value), 0, part.value.length);
      if (!this.stream.isFull) continue;
      this.#whenDrained = Promise.withResolvers();
      await this.#whenDrained.promise;
    }
    this.stream.end('');
  }

  async #next(): Promise<Part | undefined> {
    return this.#begun.shift() ?? this.#reader?.read();
  }
}

/** Lists the headers. Cookies may not be joined by commas. The framing is ours. */
function headersOf({ headers }: Response): Record<string, string | readonly string[]> {
  const list: Record<string, string | readonly string[]> = {};
  headers.forEach((value, name) => {
    if (name !== 'content-length' && name !== 'transfer-encoding') list[name] = value;
  });
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) list['set-cookie'] = cookies;
  return list;
}
