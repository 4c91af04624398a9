/**
 * The baseline: the shortest honest proxy on this runtime. It swaps the credential and streams both
 * bodies through untouched; it authenticates, limits, counts, charges and logs nothing.
 * Run by the benchmark as `bun bench/bare-proxy.ts --port 9200 --upstream http://127.0.0.1:9100`.
 */
import { parseArgs } from 'node:util';

const flags = parseArgs({
  options: { port: { type: 'string' }, upstream: { type: 'string', default: '' } },
}).values;

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(flags.port),
  idleTimeout: 0,
  async fetch(request) {
    const headers = new Headers(request.headers);
    headers.delete('host');
    headers.set('authorization', 'Bearer x');
    const path = request.url.slice(request.url.indexOf('/', 'http://'.length));
    const reply = await fetch(flags.upstream + path, {
      method: request.method,
      headers,
      body: request.body,
      redirect: 'manual',
      decompress: false,
    });
    return new Response(reply.body, { status: reply.status, headers: reply.headers });
  },
});
