import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, waitUntilReady } from '../readiness.ts';
import type { Stage } from '../stage.ts';
import { type Candidate, plainEndpoint } from './candidate.ts';

const BUILD_TIMEOUT_MS = 180_000;

/** Go's own reverse proxy, built from `peers/go-proxy`. */
export const go: Candidate = {
  name: 'go',
  title: 'bare proxy in Go (httputil)',
  async start(stage, upstreamOrigin) {
    if (Bun.which('go') === null) return { type: 'absent', reason: 'go is not installed' };
    const program = await build(stage);
    const port = await findFreePort();
    const process = stage.start({
      name: 'go',
      command: [program, '-port', String(port), '-upstream', upstreamOrigin],
    });
    const origin = `http://127.0.0.1:${port}`;
    await waitUntilReady(process, origin);
    return { type: 'running', process, endpoint: plainEndpoint(origin) };
  },
};

async function build(stage: Stage): Promise<string> {
  const program = join(stage.folder, 'go-proxy');
  if (existsSync(program)) return program;
  const options = {
    name: 'go-build',
    command: ['go', 'build', '-buildvcs=false', '-o', program, '.'],
    cwd: join(import.meta.dir, '../peers/go-proxy'),
    environment: { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off' },
  } as const;
  await stage.run(options, BUILD_TIMEOUT_MS);
  return program;
}
