import { findBreach, SIMULATED_MODELS, type Case } from './anthropic-rules.ts';
import { messagesRequest, vertexRequest } from './anthropic-shapes.ts';
import { composeMessage, messageEvents, type Saying } from './anthropic-wire.ts';
import { respond, type Recorded } from './recorded.ts';

type JsonObject = Record<string, unknown>;

/** What the simulated provider does with one request. */
export type ClaudeBehaviour =
  | ({ readonly type: 'answer' } & Saying)
  | { readonly type: 'recorded'; readonly reply: Recorded }
  | {
      readonly type: 'status';
      readonly status: number;
      readonly error: JsonObject;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  /** An error event after this many events of a valid answer. 0 is how an overloaded provider starts. */
  | { readonly type: 'error_event'; readonly events: number; readonly error: JsonObject }
  | { readonly type: 'cut'; readonly events: number };

/** One request and its outcome. */
export interface ClaudeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The reason for a refusal, in the provider's words. */
  readonly refusal: string | undefined;
  /** The usage the provider would charge for. */
  readonly usage: unknown;
}

/** A provider on loopback that implements the Messages API as strictly as the real one. */
export interface AnthropicSimulator {
  /** The address ending in `/v1`. */
  readonly baseUrl: string;
  /** The address of the same models at Google, up to the location. */
  readonly vertexBaseUrl: string;
  readonly apiKey: string;
  readonly requests: readonly ClaudeRequest[];
  /** Sets the behaviour for the next request. Several calls queue up. */
  next(behaviour: ClaudeBehaviour): void;
  /** Sets the behaviour for every request with this provider-side model name. */
  forModel(model: string, behaviour: ClaudeBehaviour): void;
  /** Sets the behaviour for all other requests. */
  always(behaviour: ClaudeBehaviour): void;
  /** Clears requests and behaviours. */
  reset(): void;
  stop(): Promise<void>;
}

const VERTEX_PATH = '/v1/projects/simulated/locations/global';
const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
const BETAS = new Set(['thinking-binding-controls-2026-08-01', 'files-api-2025-04-14', 'interleaved-thinking-2025-05-14']);

/** The options of the simulator. */
export interface AnthropicOptions {
  /** Refuses long answers without streaming, as the provider's own clients do. */
  readonly demandsStreams?: true;
}

/** The tokens generated in ten minutes, at 128,000 an hour. */
const WHOLE_TOKENS_MAX = 21_333;

/** Starts the simulator on a free port of 127.0.0.1. */
export function startAnthropicSimulator({ demandsStreams }: AnthropicOptions = {}): AnthropicSimulator {
  const apiKey = `sk-ant-simulator-${crypto.randomUUID()}`;
  const models = new Map<string, ClaudeBehaviour>();
  let requests: ClaudeRequest[] = [];
  let queue: ClaudeBehaviour[] = [];
  let usual: ClaudeBehaviour = { type: 'answer' };

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const received = await receive(request);
      const checked = examine(received, apiKey);
      const record = { path: received.path, headers: received.headers, body: received.body };
      if ('refusal' in checked) {
        requests.push({ ...record, refusal: checked.refusal.message, usage: undefined });
        return errorResponse(checked.refusal.status, { type: checked.refusal.type, message: checked.refusal.message });
      }
      if (demandsStreams === true && checked.body.stream !== true && checked.body.max_tokens > WHOLE_TOKENS_MAX) {
        const message = 'Streaming is required for operations that may take longer than 10 minutes.';
        requests.push({ ...record, refusal: message, usage: undefined });
        return errorResponse(400, { type: 'invalid_request_error', message });
      }
      const behaviour = queue.shift() ?? models.get(checked.modelName) ?? usual;
      const message = composeMessage(checked, behaviour.type === 'answer' ? behaviour : {});
      requests.push({ ...record, refusal: undefined, usage: message.body.usage });
      if (behaviour.type === 'status' && behaviour.body !== undefined)
        return new Response(behaviour.body, { headers: { 'content-type': 'application/json' } });
      if (behaviour.type === 'status') return errorResponse(behaviour.status, behaviour.error, behaviour.headers);
      if (behaviour.type === 'recorded') return respond(behaviour.reply, 'messages', checked.body.stream === true);
      if (checked.body.stream !== true) return Response.json(message.body, { headers: HEADERS });
      return new Response(streamOf(messageEvents(message), behaviour), {
        headers: { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' },
      });
    },
  });

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    vertexBaseUrl: `http://127.0.0.1:${server.port}${VERTEX_PATH}`,
    apiKey,
    get requests() {
      return requests;
    },
    next: (behaviour) => void queue.push(behaviour),
    forModel: (model, behaviour) => void models.set(model, behaviour),
    always: (behaviour) => void (usual = behaviour),
    reset() {
      requests = [];
      queue = [];
      usual = { type: 'answer' };
      models.clear();
    },
    stop: () => server.stop(true),
  };
}

const HEADERS = {
  'request-id': 'req_simulated',
  'anthropic-organization-id': 'simulated-organization',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': '2026-11-15T00:00:00Z',
};

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
}

async function receive(request: Request): Promise<Received> {
  const body: unknown = await request.json().catch(() => undefined);
  return {
    method: request.method,
    path: new URL(request.url).pathname,
    headers: Object.fromEntries(request.headers.entries()),
    body: typeof body === 'object' && body !== null ? (body as JsonObject) : {},
  };
}

interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** Checks a request from the outside in: address, key, version, shape, and then the rules of the model. */
export function examine(received: Received, apiKey: string): Case | { refusal: Refusal } {
  const { method, path, headers, body } = received;
  const vertex = new RegExp(`^${VERTEX_PATH}/publishers/anthropic/models/([^/:]+):(rawPredict|streamRawPredict)$`, 'u').exec(path);
  const isVertex = vertex !== null;
  if (method !== 'POST' || (path !== '/v1/messages' && !isVertex)) return refused(404, 'not_found_error', 'Not Found');
  const key = isVertex ? headers['authorization'] : (headers['x-api-key'] ?? headers['authorization']);
  if (key !== `Bearer ${apiKey}` && (isVertex || key !== apiKey)) return refused(401, 'authentication_error', 'invalid x-api-key');
  const version = headers['anthropic-version'] ?? (isVertex ? '2023-06-01' : '');
  if (!VERSIONS.has(version)) return refused(400, 'invalid_request_error', 'anthropic-version: header is required');
  const betas = (headers['anthropic-beta'] ?? '').split(',').filter((beta) => beta !== '');
  const odd = betas.find((beta) => !BETAS.has(beta));
  if (odd !== undefined) return refused(400, 'invalid_request_error', `Unexpected value(s) \`${odd}\` for the \`anthropic-beta\` header`);
  const parsed = (isVertex ? vertexRequest : messagesRequest).safeParse(body);
  if (!parsed.success) return refused(400, 'invalid_request_error', firstIssue(parsed.error.issues));
  if (isVertex && (parsed.data.stream === true) !== (vertex[2] === 'streamRawPredict'))
    return refused(400, 'invalid_request_error', 'stream: does not fit the address');
  const modelName = (isVertex ? vertex[1] : String(body['model'])) ?? '';
  const model = SIMULATED_MODELS[modelName.replace('@', '-')];
  if (model === undefined) return refused(404, 'not_found_error', `model: ${modelName}`);
  const request: Case = { body: parsed.data, model, modelName, version, betas, isVertex };
  const breach = findBreach(request);
  return breach === undefined ? request : refused(400, 'invalid_request_error', breach);
}

function refused(status: number, type: string, message: string): { refusal: Refusal } {
  return { refusal: { status, type, message } };
}

/** Formats a complaint: the provider joins paths with dots, and calls an unknown field an extra input. */
function firstIssue(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string; readonly code?: string | undefined }[],
): string {
  const issue = issues[0] as { path: readonly PropertyKey[]; message: string; code?: string; keys?: readonly string[] };
  const place = [...issue.path, ...(issue.keys ?? [])].map(String).join('.');
  return `${place}: ${issue.code === 'unrecognized_keys' ? 'Extra inputs are not permitted' : issue.message}`;
}

function errorResponse(status: number, error: JsonObject, headers: Record<string, string> = {}): Response {
  return Response.json({ type: 'error', error, request_id: 'req_simulated' }, { status, headers: { ...HEADERS, ...headers } });
}

function streamOf(events: readonly JsonObject[], behaviour: ClaudeBehaviour): ReadableStream<Uint8Array> {
  const kept = behaviour.type === 'error_event' || behaviour.type === 'cut' ? events.slice(0, behaviour.events) : events;
  const sent = behaviour.type === 'error_event' ? [...kept, { type: 'error', error: behaviour.error }] : kept;
  const texts = sent.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}
