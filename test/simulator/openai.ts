import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Behaviour, Plan } from './behaviours.ts';
import { planReply } from './behaviours.ts';
import type { RawRequest } from './http-connection.ts';
import { receiveRequests } from './http-connection.ts';
import type { JsonObject } from './wire.ts';
import { errorBody, readChatRequest } from './wire.ts';

/** A scripted provider on loopback that speaks OpenAI's chat-completions format byte for byte. */
export interface OpenAiSimulator {
  /** The address ending in `/v1`. */
  readonly baseUrl: string;
  /** The only key it accepts. */
  readonly apiKey: string;
  /** Every request since the start or the last `reset`, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  readonly openConnections: number;
  readonly openReplies: number;
  /** Sets the behaviour for the next request. Several calls queue up. */
  next(behaviour: Behaviour): void;
  /** Sets the behaviour for every request with this provider-side model name. */
  forModel(model: string, behaviour: Behaviour): void;
  /** Sets the behaviour for all other requests. */
  always(behaviour: Behaviour): void;
  /** The same, chosen for each request by its body. */
  decide(choose: (body: JsonObject) => Behaviour): void;
  /** Clears requests and behaviours. */
  reset(): void;
  /** Resolves as soon as at least `count` requests have arrived. */
  untilRequests(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** One request and its outcome. Times are those of `performance.now()`. */
export interface ReceivedRequest extends RawRequest {
  readonly body: JsonObject;
  readonly unknownFields: readonly string[];
  readonly receivedAt: number;
  /** The token counts the provider would charge for. `undefined` until a reply is planned. */
  usage: unknown;
  chunksSent: number;
  finishedAt: number | undefined;
  /** When the caller disconnected before the reply was complete. */
  abortedAt: number | undefined;
}

const KNOWN_FIELDS = new Set(
  `model messages max_completion_tokens max_tokens temperature top_p n stream stream_options stop presence_penalty
  frequency_penalty logit_bias logprobs top_logprobs seed user safety_identifier prompt_cache_key prompt_cache_options
  prompt_cache_retention metadata store service_tier reasoning_effort verbosity modalities audio prediction tools
  tool_choice parallel_tool_calls response_format web_search_options moderation functions function_call`.split(/\s+/u),
);
const UNTIL_REQUESTS_MS = 5000;
const CUT_PAUSE_MS = 100;
const NO_CHAT = readChatRequest({});

/** Starts the simulator on a free port of 127.0.0.1. */
export async function startOpenAiSimulator(): Promise<OpenAiSimulator> {
  const apiKey = `sk-simulator-${crypto.randomUUID()}`;
  const sockets = new Set<Socket>();
  const models = new Map<string, Behaviour>();
  let requests: ReceivedRequest[] = [];
  let queue: Behaviour[] = [];
  let usual: (body: JsonObject) => Behaviour = answerAlways;
  let openReplies = 0;

  const choose: Choose = (model, body) => queue.shift() ?? models.get(model) ?? usual(body);
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    receiveRequests(socket, async (raw) => {
      const request = recordRequest(raw);
      requests.push(request);
      openReplies += 1;
      const plan = refuse(request, apiKey) ?? planChat(request, choose);
      await sendReply(socket, plan, request);
      openReplies -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey,
    get requests() {
      return requests;
    },
    get openConnections() {
      return sockets.size;
    },
    get openReplies() {
      return openReplies;
    },
    next: (behaviour) => void queue.push(behaviour),
    forModel: (model, behaviour) => void models.set(model, behaviour),
    always: (behaviour) => void (usual = () => behaviour),
    decide: (chooseUsual) => void (usual = chooseUsual),
    reset() {
      requests = [];
      queue = [];
      usual = answerAlways;
      models.clear();
    },
    async untilRequests(count) {
      const deadline = performance.now() + UNTIL_REQUESTS_MS;
      while (requests.length < count) {
        if (performance.now() > deadline) throw new Error(`${requests.length} of ${count} requests came in`);
        await Bun.sleep(1);
      }
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function recordRequest(raw: RawRequest): ReceivedRequest {
  const body = parseObject(raw.text);
  return {
    ...raw,
    body,
    unknownFields: Object.keys(body).filter((field) => !KNOWN_FIELDS.has(field)),
    receivedAt: performance.now(),
    usage: undefined,
    chunksSent: 0,
    finishedAt: undefined,
    abortedAt: undefined,
  };
}

type Choose = (model: string, body: JsonObject) => Behaviour;

function answerAlways(): Behaviour {
  return { type: 'answer' };
}

function planChat(request: ReceivedRequest, choose: Choose): Plan {
  const chat = readChatRequest(request.body);
  const plan = planReply(choose(chat.model, request.body), chat, crypto.randomUUID().replaceAll('-', ''));
  request.usage = plan.usage;
  return plan;
}

/** The refusals before any behaviour: wrong address, wrong key, unreadable body. */
function refuse(request: ReceivedRequest, apiKey: string): Plan | undefined {
  if (request.method !== 'POST' || request.path !== '/v1/chat/completions') {
    return planRefusal(404, { message: `Invalid URL (${request.method} ${request.path})` });
  }
  if (request.headers['authorization'] !== `Bearer ${apiKey}`) {
    return planRefusal(401, { message: 'Incorrect API key provided: sk-*****key.', code: 'invalid_api_key' });
  }
  if (request.body['messages'] === undefined) {
    return planRefusal(400, { message: 'We could not parse the JSON body of your request.' });
  }
  return undefined;
}

function planRefusal(status: number, error: { message: string; code?: string }): Plan {
  const body = errorBody({ ...error, type: 'invalid_request_error' });
  return planReply({ type: 'status', status, body }, NO_CHAT, '');
}

/** Writes the planned reply, or the part of it before its fault. */
async function sendReply(socket: Socket, plan: Plan, request: ReceivedRequest): Promise<void> {
  const gone = Promise.withResolvers<undefined>();
  const leave = (): void => {
    request.abortedAt ??= performance.now();
    gone.resolve(undefined);
  };
  socket.once('close', leave);
  const hasFailed = await writePieces(socket, plan, { request, gone: gone.promise });
  socket.off('close', leave);
  // A socket the caller has ended is destroyed a moment before it reports so.
  if (socket.destroyed) leave();
  else if (hasFailed) socket.destroy();
  else request.finishedAt = performance.now();
}

async function writePieces(
  socket: Socket,
  plan: Plan,
  { request, gone }: { request: ReceivedRequest; gone: Promise<undefined> },
): Promise<boolean> {
  const fault = plan.fault;
  const fail = async (): Promise<boolean> => {
    // The pause lets the caller read what was sent: a reset discards bytes waiting in its socket.
    await (fault?.type === 'hang' ? gone : Bun.sleep(CUT_PAUSE_MS));
    return true;
  };
  if (fault?.moment.at === 'before_headers') return fail();
  socket.write(encodeHead(plan));
  if (fault?.moment.at === 'after_headers') return fail();
  const faultIndex = fault === undefined ? Number.POSITIVE_INFINITY : faultChunk(plan);
  for (const piece of plan.pieces) {
    const isFaulty = request.chunksSent === faultIndex;
    if (isFaulty && fault?.moment.at === 'mid_event') socket.write(frame(piece.subarray(0, piece.length / 2)));
    if (isFaulty) return fail();
    if (plan.gapMs > 0) await Promise.race([Bun.sleep(plan.gapMs), gone]);
    // Each piece is sent in its own turn, or the kernel would join neighbours into one segment.
    await nextTurn();
    if (socket.destroyed) return true;
    const isFlushed = socket.write(frame(piece));
    if (!isFlushed) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), gone]);
    request.chunksSent += 1;
  }
  socket.write('0\r\n\r\n');
  return false;
}

function faultChunk(plan: Plan): number {
  const moment = plan.fault?.moment;
  return moment !== undefined && 'chunks' in moment ? moment.chunks : 0;
}

function encodeHead(plan: Plan): string {
  const headers = {
    date: new Date().toUTCString(),
    'transfer-encoding': 'chunked',
    connection: 'keep-alive',
    'x-request-id': `req_${crypto.randomUUID().replaceAll('-', '')}`,
    'openai-processing-ms': '42',
    'openai-version': '2020-10-01',
    'openai-organization': 'simulated-organization',
    'x-ratelimit-limit-requests': '30000',
    'x-ratelimit-remaining-requests': '29999',
    'x-ratelimit-reset-requests': '2ms',
    'set-cookie': '__cf_bm=simulated; path=/; HttpOnly',
    ...plan.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${plan.status} Simulated\r\n${lines.join('')}\r\n`;
}

function frame(piece: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    // An unreadable body is answered with 400, like any body without messages.
    return {};
  }
}
