import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StagedProcess } from './stage.ts';

const READY_TIMEOUT_MS = 15_000;
const READY_POLL_MS = 50;
const PROBE_TIMEOUT_MS = 2_000;

/** Waits until `url` responds, with any status or with success. */
export async function waitUntilReady(staged: StagedProcess, url: string, accept: 'any' | 'ok' = 'any'): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadlineMs && !staged.hasExited()) {
    if (await isAnswering(url, accept)) return;
    await sleep(READY_POLL_MS);
  }
  const outcome = staged.hasExited() ? 'ended at once' : `was not ready in ${READY_TIMEOUT_MS} ms`;
  throw new Error(`${staged.name} ${outcome}. It printed last:\n${staged.readLogTail()}`);
}

/** Returns a free port from the system. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function isAnswering(url: string, accept: 'any' | 'ok'): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await reply.arrayBuffer();
    return accept === 'any' || reply.ok;
  } catch {
    return false; // refused or cut off: it is still starting
  }
}
