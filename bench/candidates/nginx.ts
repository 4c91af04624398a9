import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, waitUntilReady } from '../readiness.ts';
import { type Candidate, plainEndpoint } from './candidate.ts';

/** nginx with one worker, as tuned for streams: connections kept, nothing buffered. */
export const nginx: Candidate = {
  name: 'nginx',
  title: 'nginx, one worker',
  async start(stage, upstreamOrigin) {
    const program = Bun.which('nginx');
    if (program === null) return { type: 'absent', reason: 'nginx is not installed' };
    const port = await findFreePort();
    const folder = stage.makeFolder('nginx');
    const configPath = join(folder, 'nginx.conf');
    writeFileSync(configPath, renderConfig(folder, port, new URL(upstreamOrigin).host));
    const process = stage.start({
      name: 'nginx',
      command: [program, '-p', folder, '-e', 'stderr', '-c', configPath],
    });
    const origin = `http://127.0.0.1:${port}`;
    await waitUntilReady(process, origin);
    return { type: 'running', process, endpoint: plainEndpoint(origin) };
  },
};

function renderConfig(folder: string, port: number, upstreamHost: string): string {
  // As root, nginx would run the worker as `nobody`, who cannot enter the temporary folder. For other
  // users the directive only causes a warning.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000;
  tcp_nodelay on;
  upstream simulator {
    server ${upstreamHost};
    keepalive 1024;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://simulator;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer x";
      proxy_buffering off;
    }
  }
}
`;
}
