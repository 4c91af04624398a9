import { join } from 'node:path';
import { findFreePort, waitUntilReady } from '../readiness.ts';
import { type Candidate, plainEndpoint } from './candidate.ts';
import { bunProgram } from './bun-program.ts';

/** The baseline: a pass-through proxy on the same runtime, see `bare-proxy.ts`. */
export const bare: Candidate = {
  name: 'bare',
  title: 'bare proxy on Bun (baseline)',
  async start(stage, upstreamOrigin) {
    const port = await findFreePort();
    const process = stage.start({
      name: 'bare',
      ...bunProgram(join(import.meta.dir, '../bare-proxy.ts'), ['--port', String(port), '--upstream', upstreamOrigin]),
    });
    const origin = `http://127.0.0.1:${port}`;
    await waitUntilReady(process, origin);
    return { type: 'running', process, endpoint: plainEndpoint(origin) };
  },
};
