import { errorBody, errorHeaders, GatewayError, toGatewayError } from './errors.ts';
import { chatCompletions } from './gateway/chat.ts';
import { CLIENT_GONE, type Call, type Gate } from './gateway/gate.ts';
import { listModels, retrieveModel } from './gateway/models.ts';
import type { Connection, Handler } from './http/server.ts';
import { makeId } from './ids.ts';

type Operation = (request: Request, call: Call, gate: Gate) => Promise<Response>;

/** Every address of the service. */
export function routes(gate: Gate, lifecycle: { isReady(): boolean; isDraining(): boolean }): Record<string, Handler> {
  const v1 =
    (operations: Readonly<Record<string, Operation>>): Handler =>
    (request, connection) => {
      if (request.method === 'OPTIONS') return preflight(operations);
      return runOperation(operations, { request, connection, gate, isDraining: lifecycle.isDraining() });
    };
  const chat = v1({ POST: chatCompletions });
  const models = v1({ GET: listModels });
  const unknown = v1({});
  return {
    '/v1/chat/completions': chat,
    '/v1/chat/completions/': chat,
    '/v1/models': models,
    '/v1/models/': models,
    '/v1/models/*': v1({ GET: retrieveModel }),
    '/healthz': () => Response.json({ status: 'alive' }),
    '/readyz': () => (lifecycle.isReady() ? Response.json({ status: 'ready' }) : Response.json({ status: 'draining' }, { status: 503 })),
    '/': () => new Response('Tollgate is running. Point your client at /v1 with your API key.\n'),
    '/*': unknown,
  };
}

/** Any site may call with a key of its own: there are no cookies here that a browser could add. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after, x-should-retry',
} as const;

interface Arrival {
  readonly request: Request;
  readonly connection: Connection;
  readonly gate: Gate;
  readonly isDraining: boolean;
}

/** Runs one operation of `/v1`. Whatever happens, the caller gets one of the promised statuses and a request id. */
async function runOperation(
  operations: Readonly<Record<string, Operation>>,
  { request, connection, gate, isDraining }: Arrival,
): Promise<Response> {
  const call = openCall(request, connection, gate);
  let response: Response;
  try {
    if (isDraining)
      throw new GatewayError('draining', 'This server is shutting down. Try again: another one will answer.', {
        retryAfterSeconds: 1,
        headers: { connection: 'close' },
      });
    response = await findOperation(operations, request)(request, call, gate);
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (call.abort.signal.reason !== CLIENT_GONE) gate.log.refused({ requestId: call.id, path: connection.route, error });
    response = new Response(errorBody(error), {
      status: error.status,
      headers: { ...errorHeaders(error), 'content-type': 'application/json' },
    });
  }
  if (!call.isStreaming) gate.calls.delete(call);
  response.headers.set('x-request-id', call.id);
  response.headers.set('access-control-allow-origin', CORS_HEADERS['access-control-allow-origin']);
  response.headers.set('access-control-expose-headers', CORS_HEADERS['access-control-expose-headers']);
  return response;
}

function openCall(request: Request, connection: Connection, gate: Gate): Call {
  const startedAtMs = Date.now();
  const call = {
    id: makeId('req', startedAtMs),
    startedAtMs,
    abort: new AbortController(),
    isStreaming: false,
    setIdleTimeout: connection.setIdleTimeout,
  };
  gate.calls.add(call);
  request.signal.addEventListener('abort', () => call.abort.abort(CLIENT_GONE), { once: true });
  return call;
}

function findOperation(operations: Readonly<Record<string, Operation>>, request: Request): Operation {
  const operation = operations[request.method === 'HEAD' ? 'GET' : request.method];
  if (operation !== undefined) return operation;
  const allowed = Object.keys(operations);
  if (allowed.length > 0)
    throw new GatewayError('method_not_supported', `${request.method} is not supported here; use ${allowed.join(' or ')}.`);
  throw new GatewayError(
    'unknown_url',
    `Unknown address: ${request.method} is not answered here. The operations are POST /v1/chat/completions and GET /v1/models; is the base address set to …/v1?`,
  );
}

/** Browsers ask before they call; the headers of the official SDKs are allowed. */
function preflight(operations: Readonly<Record<string, Operation>>): Response {
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
