import { connect } from '../database/connect.ts';
import { isNestedTooDeep } from '../openai/json-depth.ts';
import { openMoneyIn, openStripeWebhook } from '../payments/open.ts';
import { HistoryKeeper, startHistoryClock } from '../usage/history-keeper.ts';
import { startAlertClock } from './alert-clock.ts';
import { dashboardApi } from './api.ts';
import { openAuth } from './auth/auth.ts';
import { streamOf } from './download.ts';
import { startExportClock } from './export-clock.ts';
import { openMail } from './mail.ts';
import type { CarriedReply, CarriedRequest, DashboardSettings, FromDashboard, GateQuestion, ToDashboard } from './messages.ts';
import type { Dependencies } from './dependencies.ts';
import { API_HEADERS } from './web-files.ts';

/** The dashboard's thread. Opens its own database connection and answers the requests that the main thread passes on. */

/** Reports may take long. A query is cancelled shortly before its request times out. */
const STATEMENT_MS = 25_000;

/** Whoever copies the address may add a slash; Stripe follows no redirect. */
const WEBHOOK_PATHS: ReadonlySet<string> = new Set(['/webhooks/stripe', '/webhooks/stripe/']);

type Answerer = (request: Request, address: string) => Promise<Response>;

interface Opened {
  readonly answer: Answerer;
  close(): Promise<void>;
}

/** No page sends deeper JSON. Serialising a deeply nested value takes seconds and would block the thread. */
const BODY_DEPTH_MAX = 64;
const TOO_DEEP = plainReply(400, 'invalid', `The body is nested more than ${BODY_DEPTH_MAX} levels deep.`);
/** The reply to a request that failed unexpectedly. */
const FAILED = plainReply(500, 'internal_error', 'Something went wrong on our side. Try again.');

declare const self: Worker;

const questions = new Map<number, PromiseWithResolvers<unknown>>();
const readers = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
let nextQuestion = 1;
let opened: Promise<Opened> | undefined;

self.onmessage = (event: MessageEvent<ToDashboard>) => {
  void receive(event.data).catch((error: unknown) => fail('a message to the dashboard could not be handled', error));
};
process.on('unhandledRejection', (error) => fail('unhandled promise rejection', error));

async function receive(message: ToDashboard): Promise<void> {
  switch (message.type) {
    case 'start':
      opened = open(message.settings);
      opened.catch(crash);
      return;
    case 'request':
      return answer(message.id, message.request);
    case 'pull':
      return sendPiece(message.id);
    case 'cancel': {
      const reader = readers.get(message.id);
      readers.delete(message.id);
      return reader?.cancel();
    }
    case 'answer':
      questions.get(message.id)?.resolve(message.answer);
      questions.delete(message.id);
      return;
    case 'unanswered':
      questions.get(message.id)?.reject(new Error('The gate could not answer'));
      questions.delete(message.id);
      return;
    case 'close':
      await (await opened)?.close();
      send({ type: 'closed' });
  }
}

/**
 * Ends the thread when it cannot start, for example without a database. Waiting requests fail, and the next request starts a new thread.
 */
function crash(error: unknown): void {
  setTimeout(() => {
    throw error instanceof Error ? error : new Error(String(error));
  });
}

async function open(settings: DashboardSettings): Promise<Opened> {
  const database = await connect(settings, STATEMENT_MS);
  const mail = openMail(settings, { fail, notice });
  const auth = await openAuth({ settings, database, mail, fail });
  const { payments, publicUrl: url } = settings;
  const onRefused = (): void => fail('Stripe refuses STRIPE_SECRET_KEY', undefined);
  const money = await openMoneyIn({ database: database.kysely, payments, url, onRefused });
  const webhook = await openStripeWebhook(database.kysely, payments, {
    onRefused: (eventId) => fail('a Stripe event was not credited', Object.assign(new Error('not credited'), { code: eventId })),
    onUnverified: () => fail('a Stripe event has no valid signature: check STRIPE_WEBHOOK_SECRET and the clock', undefined),
  });
  const dependencies: Dependencies = {
    settings,
    database,
    ask,
    fail,
    notice,
    mail,
    auth,
    money,
    history: new HistoryKeeper(database, fail),
  };
  const api = dashboardApi(dependencies);
  const alertClock = startAlertClock(dependencies);
  const historyClock = startHistoryClock(dependencies.history);
  const exportClock = startExportClock(dependencies);
  return {
    answer: async (request, address) => {
      if (webhook !== undefined && WEBHOOK_PATHS.has(new URL(request.url).pathname)) return answerWebhook(webhook, request);
      return api.fetch(request, { address });
    },
    close: async () => {
      await alertClock.stop();
      await historyClock.stop();
      await exportClock.stop();
      await mail.close();
      await auth.close();
      await database.kysely.destroy();
    },
  };
}

/** Answers a failed event with status 500, so that Stripe sends it again. */
async function answerWebhook(webhook: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
  try {
    return await webhook(request);
  } catch (error) {
    fail('a Stripe event could not be processed', error);
    return new Response('The event could not be processed. Send it again.\n', { status: 500 });
  }
}

async function answer(id: number, request: CarriedRequest): Promise<void> {
  const api = await opened;
  if (api === undefined) return;
  try {
    send({ type: 'reply', id, reply: await replyTo(id, request, api.answer) });
  } catch (error) {
    // Replies at once: otherwise requests that never get an answer could fill the queue.
    send({ type: 'reply', id, reply: FAILED });
    throw error;
  }
}

async function replyTo(id: number, { method, url, headers, body, address }: CarriedRequest, answerer: Answerer): Promise<CarriedReply> {
  if (body !== undefined && isNestedTooDeep(Buffer.from(body.buffer).toString('latin1'), BODY_DEPTH_MAX)) return TOO_DEEP;
  const request = new Request(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body: body ?? null,
  });
  const response = await answerer(request, address);
  const stream = streamOf(response);
  if (stream !== undefined) readers.set(id, stream.getReader());
  const whole = stream === undefined ? new Uint8Array(await response.arrayBuffer()) : undefined;
  return { status: response.status, headers: [...response.headers], body: whole };
}

function plainReply(status: number, code: string, message: string): CarriedReply {
  const headers = { ...API_HEADERS, 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { status, headers: Object.entries(headers), body: new TextEncoder().encode(JSON.stringify({ error: { code, message } })) };
}

async function sendPiece(id: number): Promise<void> {
  const reader = readers.get(id);
  if (reader === undefined) return;
  try {
    const { done, value } = await reader.read();
    if (value !== undefined) send({ type: 'piece', id, bytes: new Uint8Array(value) });
    if (!done) return;
    send({ type: 'end', id, isWhole: true });
  } catch (error) {
    fail('a streamed dashboard response broke off', error);
    send({ type: 'end', id, isWhole: false });
  }
  readers.delete(id);
}

function ask(question: GateQuestion): Promise<unknown> {
  const id = nextQuestion;
  nextQuestion += 1;
  const asked = Promise.withResolvers<unknown>();
  questions.set(id, asked);
  send({ type: 'question', id, question });
  return asked.promise;
}

function fail(event: string, error: unknown): void {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  send({ type: 'failure', event, error: { name, code, message, stack } });
}

function notice(text: string): void {
  send({ type: 'notice', text });
}

function send(message: FromDashboard): void {
  self.postMessage(message);
}
