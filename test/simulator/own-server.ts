import type { JsonObject } from './wire.ts';

/** A self-hosted server on loopback: a model list, and a canned answer for the models in it. */
export interface OwnServer {
  /** The address ending in `/v1`. */
  readonly baseUrl: string;
  readonly port: number;
  /** The requests received, such as `GET /v1/models`. */
  readonly asked: readonly string[];
  /** The models named by chat requests. */
  readonly called: readonly string[];
  /** Sets what a path returns. Undefined for nothing. */
  put(path: string, body: unknown): void;
  stop(): Promise<void>;
}

/** Starts a server with this list at `/v1/models`. With a key, it refuses requests without it. */
export function startOwnServer(list: unknown, { port = 0, key }: { port?: number; key?: string } = {}): OwnServer {
  const documents = new Map<string, unknown>([['/v1/models', list]]);
  const asked: string[] = [];
  const called: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      if (key !== undefined && request.headers.get('authorization') !== `Bearer ${key}`) return refuse(401, 'Unauthorized');
      if (request.method === 'POST' && pathname === '/v1/chat/completions') return answer((await request.json()) as JsonObject, called);
      const document = request.method === 'GET' ? documents.get(pathname) : undefined;
      if (document instanceof Response) return document.clone();
      return document === undefined ? refuse(404, 'Not Found') : Response.json(document);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    port: Number(server.port),
    asked,
    called,
    put: (path, body) => void documents.set(path, body),
    stop: () => server.stop(true),
  };
}

function refuse(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}

function answer(body: JsonObject, called: string[]): Response {
  called.push(String(body['model']));
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
  return Response.json({ id: 'own-1', object: 'chat.completion', created: 1, model: body['model'], choices, usage });
}
