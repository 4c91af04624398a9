import { HeldBytes } from '../http/held-bytes.ts';
import { readRequestUrl } from '../http/request-url.ts';
import { startWorker } from '../start-worker.ts';
import { Bodies, API_BODY_BYTES_MAX, BODY_MS, type BodyProblem } from './bodies.ts';
import { API_HEADERS } from './web-files.ts';
import type { CarriedReply, CarriedRequest, DashboardSettings, FromDashboard, GateQuestion, ToDashboard } from './messages.ts';

/** The main thread as the dashboard sees it: answers its questions, logs its failures and prints its notices. */
export interface DashboardHost {
  answer(question: GateQuestion): Promise<unknown>;
  failed(event: string, error: unknown): void;
  /** Prints a text for the operator, such as a link that could not be emailed. */
  notice(text: string): void;
}

/** Far longer than any page needs. A response that takes longer is not expected to come. */
const REPLY_MS = 30_000;
const CLOSE_MS = 5000;
const WAITING_MAX = 1000;

/**
 * The dashboard's API. It runs in its own thread, so that a report over a million rows or a slow password hash does not
 * delay model calls. The thread starts with the first request, so a gate without dashboard users needs no memory for it.
 */
export class Dashboard {
  readonly #settings: () => DashboardSettings;
  readonly #host: DashboardHost;
  readonly #bodies: Bodies;
  #worker: Worker | undefined;
  #nextId = 1;
  readonly #waiting = new Map<number, Waiting>();
  #onClosed: (() => void) | undefined;

  /** `held` counts the bodies of all requests in memory. */
  constructor(settings: () => DashboardSettings, host: DashboardHost, held = new HeldBytes()) {
    this.#settings = settings;
    this.#host = host;
    this.#bodies = new Bodies({ held });
  }

  /** Answers one request from a browser. */
  async fetch(request: Request, address: string): Promise<Response> {
    const url = readRequestUrl(request)?.toString();
    if (url === undefined) return plainError(400, 'invalid', 'The Host header does not name a host.');
    const body = await this.#bodies.read(request);
    if (typeof body === 'string') return refuseBody(body);
    try {
      return await this.#ask({ method: request.method, url, headers: [...request.headers], body, address });
    } finally {
      this.#bodies.release(body);
    }
  }

  /** Starts the thread before the first request, for its background work. */
  wake(): void {
    this.#open();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const closed = Promise.withResolvers<void>();
    this.#onClosed = closed.resolve;
    // This timer keeps the process alive, which the thread does not. Without it the process would end here, before the rest is closed.
    const timer = setTimeout(closed.resolve, CLOSE_MS);
    this.#post({ type: 'close' });
    await closed.promise;
    clearTimeout(timer);
    worker.terminate();
    this.#worker = undefined;
  }

  #ask(request: CarriedRequest): Promise<Response> | Response {
    if (this.#waiting.size >= WAITING_MAX) return busy();
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#timeOut(id), REPLY_MS);
      this.#waiting.set(id, { resolve, timer, controller: undefined });
      this.#post({ type: 'request', id, request });
    });
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = startWorker('dashboard/worker', { smol: true });
    worker.onmessage = (event: MessageEvent<FromDashboard>) => this.#receive(event.data);
    worker.onerror = (event) => this.#handleCrash(event.message);
    worker.unref();
    this.#worker = worker;
    worker.postMessage({ type: 'start', settings: this.#settings() } satisfies ToDashboard);
    return worker;
  }

  #post(message: ToDashboard): void {
    this.#open().postMessage(message);
  }

  #receive(message: FromDashboard): void {
    switch (message.type) {
      case 'reply':
        return this.#reply(message.id, message.reply);
      case 'piece':
        return this.#waiting.get(message.id)?.controller?.enqueue(message.bytes);
      case 'end':
        return this.#end(message.id, message.isWhole);
      case 'question':
        return void this.#answer(message.id, message.question);
      case 'failure':
        return this.#host.failed(message.event, Object.assign(new Error(), message.error));
      case 'notice':
        return this.#host.notice(message.text);
      case 'closed':
        return this.#onClosed?.();
    }
  }

  async #answer(id: number, question: GateQuestion): Promise<void> {
    let message: ToDashboard;
    try {
      message = { type: 'answer', id, answer: await this.#host.answer(question) };
    } catch (error) {
      this.#host.failed('a question from the dashboard could not be answered', error);
      message = { type: 'unanswered', id };
    }
    if (this.#worker !== undefined) this.#post(message);
  }

  #reply(id: number, { status, headers, body }: CarriedReply): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      // The request timed out before this reply arrived: nobody would read its chunks.
      if (body === undefined) this.#post({ type: 'cancel', id });
      return;
    }
    clearTimeout(waiting.timer);
    if (body !== undefined) this.#waiting.delete(id);
    const init = { status, headers: headers.map(([name, value]): [string, string] => [name, value]) };
    waiting.resolve(new Response(body ?? this.#stream(id, waiting), init));
  }

  #stream(id: number, waiting: Waiting): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          waiting.controller = controller;
        },
        pull: () => this.#post({ type: 'pull', id }),
        cancel: () => {
          this.#waiting.delete(id);
          this.#post({ type: 'cancel', id });
        },
      },
      { highWaterMark: 1 },
    );
  }

  #end(id: number, isWhole: boolean): void {
    const controller = this.#waiting.get(id)?.controller;
    this.#waiting.delete(id);
    if (isWhole) controller?.close();
    else controller?.error(new Error('The response was cut off.'));
  }

  #timeOut(id: number): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(plainError(500, 'timeout', 'The dashboard took too long to answer. Try again.'));
  }

  /** Handles the end of the thread: fails all waiting requests. The next request starts a new thread. */
  #handleCrash(message: string): void {
    this.#host.failed("the dashboard's thread ended", new Error(message));
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const [id, { resolve, timer, controller }] of this.#waiting) {
      clearTimeout(timer);
      this.#waiting.delete(id);
      if (controller === undefined) resolve(plainError(500, 'internal_error', 'Something went wrong on our side. Try again.'));
      else controller.error(new Error('The response was cut off.'));
    }
  }
}

interface Waiting {
  readonly resolve: (response: Response) => void;
  readonly timer: Timer;
  /** Set if the response is streamed. */
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

function refuseBody(problem: BodyProblem): Response {
  switch (problem) {
    case 'too_large':
      return plainError(413, 'too_large', `The request is larger than ${API_BODY_BYTES_MAX} bytes.`);
    case 'too_slow':
      return plainError(408, 'too_slow', `The request did not arrive within ${BODY_MS / 1000} seconds.`);
    case 'no_room':
      return busy();
  }
}

function busy(): Response {
  return plainError(503, 'busy', 'The dashboard is busy. Try again in a moment.');
}

function plainError(status: number, code: string, message: string): Response {
  const headers = { ...API_HEADERS, 'cache-control': 'no-store', ...(status === 503 && { 'retry-after': '1' }) };
  return Response.json({ error: { code, message } }, { status, headers });
}
