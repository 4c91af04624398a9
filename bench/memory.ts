import type { Candidate } from './candidates/candidate.ts';
import { runOnceOnEach } from './driver.ts';
import { readMemoryMb } from './process-tree.ts';
import type { Stage } from './stage.ts';
import { startUpstream } from './start-upstream.ts';
import { verifyEndpoint } from './verify.ts';

const STREAMS = 500;
const SAMPLE_MS = 100;
const PEAK_TIMEOUT_MS = 5_000;

/** Slow enough that the first stream still runs when the last one opens. */
const PACE_MS = 100;

/** Resident memory of a fresh process before and while 500 streams run at the same time. */
export interface MemoryFigures {
  readonly idleMb: number;
  readonly peakMb: number;
  readonly completed: number;
  readonly faults: readonly string[];
}

/** Starts the candidate afresh, opens 500 streams and waits until all are complete. */
export async function measureMemory(candidate: Candidate, stage: Stage): Promise<MemoryFigures | undefined> {
  const upstream = await startUpstream(stage, PACE_MS);
  const running = await candidate.start(stage, upstream.origin);
  if (running.type === 'absent') return undefined;
  const { endpoint } = running;
  const { pid } = running.process;
  await verifyEndpoint(endpoint, PACE_MS);
  const idleMb = readMemoryMb(pid, 'VmRSS');
  let peakMb = idleMb;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, readMemoryMb(pid, 'VmRSS'));
  }, SAMPLE_MS);
  try {
    const result = await runOnceOnEach({ endpoint, kind: 'stream', connections: STREAMS });
    const faults = [...result.faults, ...(await findQueueing(upstream.origin))];
    return { idleMb, peakMb, completed: result.completed, faults };
  } finally {
    clearInterval(sampler);
  }
}

/** Detects a gateway that queues streams: it would need less memory and look better than it is. */
async function findQueueing(upstreamOrigin: string): Promise<readonly string[]> {
  const reply = await fetch(`${upstreamOrigin}/peak-streams`, { signal: AbortSignal.timeout(PEAK_TIMEOUT_MS) });
  const peak = Number(await reply.text());
  return peak >= STREAMS ? [] : [`only ${peak} of ${STREAMS} streams reached the provider at the same time`];
}
