import { createHash, timingSafeEqual } from 'node:crypto';
import { errorBody, errorHeaders, GatewayError, toGatewayError } from './errors.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import type { WebFiles } from './dashboard/web-files.ts';
import { chatCompletions } from './gateway/chat.ts';
import type { Call } from './gateway/call.ts';
import { closeCall, openCall, type Gate, type Reply } from './gateway/gate.ts';
import { noteRefusal } from './gateway/note-refusal.ts';
import { listModels, retrieveModel } from './gateway/models.ts';
import { clientAddress, parseNetworks, type TrustedNetworks } from './http/client-address.ts';
import { readPath, readRequestUrl } from './http/request-url.ts';
import type { Outgoing } from './http/outgoing.ts';
import type { Incoming, IncomingRequest } from './http/incoming.ts';
import type { Arrival, Handler } from './http/server.ts';
import { makeId } from './ids.ts';

type Operation = (request: Incoming, call: Call, gate: Gate) => Promise<Reply>;
type Operations = Readonly<Record<string, Operation>>;

/** The parts of the service that serve requests. */
export interface Destinations {
  readonly gate: Gate;
  readonly dashboard: Dashboard;
  readonly webFiles: WebFiles;
  isReady(): boolean;
  isDraining(): boolean;
  /** False without a secret to verify events with; then the address does not exist. */
  readonly hasStripeWebhook: boolean;
}

/** Returns the handlers of every address of the service. */
export function routes({ gate, dashboard, webFiles, hasStripeWebhook, ...lifecycle }: Destinations): Record<string, Handler> {
  const trusted = parseNetworks(gate.config.trustedProxies) ?? [];
  const v1 =
    (operations: Operations): Handler =>
    (request, arrival) => {
      if (request.method === 'OPTIONS') return preflight(operations);
      const client = trusted.length === 0 ? arrival : behindProxies(arrival, request.headers, trusted);
      return runOperation(operations, { request, arrival: client, gate, isDraining: lifecycle.isDraining() });
    };
  const api = {
    '/v1/chat/completions': v1({ POST: chatCompletions }),
    '/v1/models': v1({ GET: listModels }),
    '/v1/models/*': v1({ GET: retrieveModel }),
  };
  const unknown = v1({});
  const meant: Handler = (request, arrival) => {
    const route = routeMeant(readPath(request));
    return route === undefined ? unknown(request, arrival) : api[route](request, { route, address: () => arrival.address() });
  };
  const toDashboard: Handler = (request, arrival) => dashboard.fetch(request.standard(), arrival.address());
  return {
    ...api,
    '/v1/models/*': meant,
    '/v1/*': meant,
    '/healthz': () => Response.json({ status: 'alive' }),
    '/readyz': () => (lifecycle.isReady() ? Response.json({ status: 'ready' }) : Response.json({ status: 'not ready' }, { status: 503 })),
    '/metrics': (request) => metrics(request, gate),
    ...(hasStripeWebhook && { '/webhooks/stripe': toDashboard, '/webhooks/stripe/': toDashboard }),
    '/api/*': toDashboard,
    '/assets/*': (request, arrival) => webFiles.asset(request.standard()) ?? unknown(request, arrival),
    // Browsers get the dashboard for every other address. Where it has no page, it says so, with status 404.
    '/*': (request, arrival) => {
      const path = readPath(request);
      if (isForPage(request) && !path.startsWith('/v1/')) return webFiles.page(request.standard());
      return isRead(request) && INTRODUCED.has(path) ? introduction() : meant(request, arrival);
    },
  };
}

/** Finds the route that a client means whose base URL lacks `/v1`, ends in a slash, or both. */
function routeMeant(path: string): '/v1/chat/completions' | '/v1/models' | '/v1/models/*' | undefined {
  const operation = path.startsWith('/v1/') ? path.slice('/v1'.length) : path;
  if (operation === '/chat/completions' || operation === '/models') return `/v1${operation}`;
  return operation.startsWith('/models/') ? '/v1/models/*' : undefined;
}

/** Pages that people open with a program too, to see who answers. */
const INTRODUCED = new Set(['/', '/docs']);

const INTRODUCTION = `This is Tollgate, one API in front of many AI models.
Base URL for your client: this server's address followed by /v1. Operations: POST /v1/chat/completions, GET /v1/models.
Reference: /docs in a browser, /api/openapi.json for programs.
`;

/** Tells a program what a browser would see. */
function introduction(): Response {
  return new Response(INTRODUCTION, { headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' } });
}

/** Takes the caller's address from trusted proxies. */
function behindProxies(arrival: Arrival, headers: Incoming['headers'], trusted: TrustedNetworks): Arrival {
  return { route: arrival.route, address: () => clientAddress(arrival.address(), headers, trusted) };
}

function isForPage(request: Incoming): boolean {
  return isRead(request) && (request.headers.get('accept') ?? '').includes('text/html');
}

function isRead({ method }: Incoming): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Serves the metrics, which are about all accounts: only to this machine or with the token. */
async function metrics(request: Incoming, gate: Gate): Promise<Response> {
  const { host, metricsToken } = gate.config;
  const isAllowed =
    metricsToken === undefined
      ? LOOPBACK_HOSTS.has(host) && isForThisMachine(request)
      : isSameText(request.headers.get('authorization') ?? '', `Bearer ${metricsToken}`);
  if (!isAllowed) return new Response('Set TOLLGATE_METRICS_TOKEN and send it as a bearer token.\n', { status: 401 });
  return new Response(await gate.metrics.render(), { headers: { 'content-type': gate.metrics.contentType } });
}

/**
 * Returns true if a request comes from this machine itself. A request forwarded by a local proxy comes from elsewhere. A request that
 * names another host may come from a web page whose owner pointed that name to 127.0.0.1, to read the response in a visitor's browser.
 */
export function isForThisMachine(request: Pick<Incoming, 'headers' | 'url'>): boolean {
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => request.headers.has(name));
  return !isForwarded && LOOPBACK_HOSTS.has(readRequestUrl(request)?.hostname ?? '');
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', '[::1]', 'localhost']);

/** Compares in constant time. */
function isSameText(first: string, second: string): boolean {
  const [left, right] = [first, second].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** Any site may call with its own key: there are no cookies here that a browser could add. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
} as const;

interface Invocation {
  readonly request: IncomingRequest;
  readonly arrival: Arrival;
  readonly gate: Gate;
  readonly isDraining: boolean;
}

/** Runs one operation of `/v1`. In every case the caller gets a documented status and a request id. */
async function runOperation(operations: Operations, { request, arrival, gate, isDraining }: Invocation): Promise<Outgoing> {
  const call = openCall(gate, request, arrival);
  let status = 200;
  let reply: Reply;
  try {
    if (isDraining) throw drainingError();
    if (gate.memory.isShort)
      throw new GatewayError('too_busy', 'This server is short of memory. Try again soon.', { retryAfterSeconds: 5 });
    reply = await findOperation(operations, request)(request, call, gate);
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (!call.isClientGone) {
      gate.log.refused({ requestId: call.id, path: arrival.route, error });
      noteRefusal(gate, call, error);
    }
    status = error.status;
    reply = { body: errorBody(error), headers: errorHeaders(error) };
  }
  if (!call.isStreaming) closeCall(gate, call);
  const { body, headers } = reply;
  headers['x-request-id'] = call.id;
  // Only browsers send an Origin header and need these.
  if (request.headers.has('origin')) Object.assign(headers, CORS_HEADERS);
  return { status, headers, body };
}

function findOperation(operations: Operations, request: Incoming): Operation {
  const { method } = request;
  const operation = operations[method === 'HEAD' ? 'GET' : method];
  if (operation !== undefined) return operation;
  const allowed = Object.keys(operations);
  if (allowed.length > 0) throw new GatewayError('method_not_supported', `${method} is not supported here; use ${allowed.join(' or ')}.`);
  const advice = adviceFor(readPath(request));
  throw new GatewayError(
    'unknown_url',
    `Unknown address for ${method}. The operations are POST /v1/chat/completions and GET /v1/models.${advice}`,
  );
}

/** Suggests how to configure a client that calls a wrong address. Empty if its base URL is right but the operation does not exist. */
function adviceFor(pathname: string): string {
  // Clients that support both OpenAI APIs try this one first unless configured otherwise.
  if (pathname.endsWith('/responses')) return ' The Responses API is not supported: set your client to chat completions.';
  if (pathname !== '/v1' && !pathname.startsWith('/v1/')) return ' Is the base URL set to …/v1?';
  const hasTooMuch = pathname.endsWith('/chat/completions') || pathname.endsWith('/models');
  return hasTooMuch ? ' Leave out of the base URL what your client adds by itself.' : '';
}

function drainingError(): GatewayError {
  return new GatewayError('draining', 'This server is shutting down. Try again: another one will respond.', {
    retryAfterSeconds: 1,
    headers: { connection: 'close' },
  });
}

/** Answers a browser's preflight request; the headers of the official SDKs are allowed. */
function preflight(operations: Operations): Response {
  return new Response(null, {
    status: 200,
    headers: {
      ...CORS_HEADERS,
      'x-request-id': makeId('req'),
      'access-control-allow-methods': [...Object.keys(operations), 'OPTIONS'].join(', '),
      'access-control-allow-headers': '*, authorization',
      'access-control-max-age': '86400',
    },
  });
}
