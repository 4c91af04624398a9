import { join } from 'node:path';
import { bunProgram } from './candidates/bun-program.ts';
import { findFreePort, waitUntilReady } from './readiness.ts';
import type { Stage, StagedProcess } from './stage.ts';

/** A running provider simulator, see `upstream.ts`. */
export interface Upstream {
  readonly origin: string;
  readonly process: StagedProcess;
}

/** Starts a simulator that waits `paceMs` between two chunks of a stream. */
export async function startUpstream(stage: Stage, paceMs: number): Promise<Upstream> {
  const port = await findFreePort();
  const parameters = ['--port', String(port), '--pace-ms', String(paceMs)];
  const program = bunProgram(join(import.meta.dir, 'upstream.ts'), parameters);
  const process = stage.start({ name: 'upstream', ...program });
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(process, origin);
  return { origin, process };
}
