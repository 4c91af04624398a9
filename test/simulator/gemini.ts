import { complainAbout } from './gemini-validation.ts';
import { composeEvents, joinEvents, type GeminiBehaviour, type Issued } from './gemini-replies.ts';
import { respond } from './recorded.ts';
import type { JsonObject } from './wire.ts';

/** A scripted provider on loopback that implements `generateContent` and refuses whatever Google refuses. */
export interface GeminiSimulator {
  /** The address ending in `/v1beta`, as at the Gemini API. */
  readonly baseUrl: string;
  /** The address ending in `/publishers/google`, as on Vertex. */
  readonly vertexBaseUrl: string;
  /** The only key it accepts. On Vertex it is the access token. */
  readonly apiKey: string;
  /** Every request since the start or the last `reset`, in order of arrival. */
  readonly requests: readonly GeminiRequest[];
  /** Sets the behaviour for the next request. Several calls queue up. */
  next(behaviour: GeminiBehaviour): void;
  /** Sets the behaviour for every request with this model. */
  forModel(model: string, behaviour: GeminiBehaviour): void;
  /** Sets the behaviour for all other requests. */
  always(behaviour: GeminiBehaviour): void;
  /** Clears requests and behaviours, but not signatures. */
  reset(): void;
  stop(): Promise<void>;
}

/** One received request. */
export interface GeminiRequest {
  readonly model: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** Starts the simulator on a free port of 127.0.0.1. */
export function startGeminiSimulator(): GeminiSimulator {
  const apiKey = `AIza-simulator-${crypto.randomUUID()}`;
  const continuationTokens = new Set<string>();
  // A signature is only valid for the model that made it, at the service where it was made.
  const signatures = new Map<string, Set<string>>();
  const issuedBy = (model: string): Issued => {
    const own = signatures.get(model) ?? new Set();
    signatures.set(model, own);
    return { signatures: own, continuationTokens };
  };
  const models = new Map<string, GeminiBehaviour>();
  let requests: GeminiRequest[] = [];
  let queue: GeminiBehaviour[] = [];
  let usual: GeminiBehaviour = { type: 'text' };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const call = readAddress(request);
      if (call === undefined) return refuse({ code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' }, false);
      const denial = denyKey(request, call, apiKey);
      if (denial !== undefined) return refuse(denial, call.isStreaming);
      const body = (await request.json()) as JsonObject;
      requests.push({ model: call.model, path: call.path, headers: request.headers, body });
      const issued = issuedBy(`${call.isVertex ? 'vertex' : 'gemini'} ${call.model}`);
      const message = complainAbout(body, { ...call, ...issued });
      if (message !== undefined) return refuse({ code: 400, status: 'INVALID_ARGUMENT', message }, call.isStreaming);
      const behaviour = queue.shift() ?? models.get(call.model) ?? usual;
      if (behaviour.type === 'status') return refuse({ ...behaviour.error, code: behaviour.status }, call.isStreaming);
      if (behaviour.type === 'recorded') return respond(behaviour.reply, 'generate-content', call.isStreaming);
      return answer(composeEvents(behaviour, body, issued), call.isStreaming);
    },
  });

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1beta`,
    vertexBaseUrl: `http://127.0.0.1:${server.port}/v1beta1/projects/p/locations/global/publishers/google`,
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
      usual = { type: 'text' };
      models.clear();
    },
    stop: () => server.stop(true),
  };
}

interface Address {
  readonly model: string;
  readonly path: string;
  readonly isVertex: boolean;
  readonly isStreaming: boolean;
}

function readAddress(request: Request): Address | undefined {
  const url = new URL(request.url);
  const match = /^\/(v1beta|v1beta1\/projects\/p\/locations\/global\/publishers\/google)\/models\/([^/:]+):(\w+)$/u.exec(url.pathname);
  const [, base, model, method] = match ?? [];
  const isStreaming = method === 'streamGenerateContent' && url.searchParams.get('alt') === 'sse';
  if (request.method !== 'POST' || model === undefined || !(isStreaming || method === 'generateContent')) return undefined;
  return { model, path: url.pathname + url.search, isVertex: base !== 'v1beta', isStreaming };
}

/** A wrong key is an invalid request at the Gemini API. A wrong token on Vertex is unauthenticated. */
function denyKey(request: Request, { isVertex }: Address, apiKey: string): JsonObject | undefined {
  if (isVertex) {
    if (request.headers.get('authorization') === `Bearer ${apiKey}`) return undefined;
    return { code: 401, status: 'UNAUTHENTICATED', message: 'Request had invalid authentication credentials.' };
  }
  if (request.headers.get('x-goog-api-key') === apiKey) return undefined;
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }];
  return { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.', details };
}

/** The streaming address wraps its errors in a list. */
function refuse(error: JsonObject, isStreaming: boolean): Response {
  const body = { error };
  return Response.json(isStreaming ? [body] : body, { status: Number(error['code']) });
}

function answer(events: readonly JsonObject[], isStreaming: boolean): Response {
  if (!isStreaming) return Response.json(joinEvents(events));
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const event of events) {
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\r\n\r\n`));
        await Bun.sleep(0);
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
