import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningCandidate } from './candidates/candidate.ts';
import { runSteadyLoad } from './driver.ts';
import type { LoadName, Turn } from './figures.ts';
import type { LoadGenerator, LoadPlan } from './load.ts';
import type { BenchOptions } from './options.ts';
import { readCpuMicros, readThreadMicros } from './process-tree.ts';

/** Connections of the loads that show CPU. */
export const CONNECTIONS = 64;
const STEADY_CONNECTIONS = 8;
const STEADY_REQUESTS_PER_SECOND = 200;

/** Work deferred until after the response (logs, batched charges) counts as part of the load. */
const SETTLE_MS = 500;
/**
 * Work left over from the load before does not count: the clients disconnect in the middle of their streams at its end, which causes work
 * for seconds.
 */
const QUIET = { sampleMs: 250, cpuMicrosMax: 10_000, waitMsMax: 10_000 };

/**
 * The runtime compiles code in threads of its own while the server runs: with streams for more than a minute, because there are few of them a
 * second. A server that runs for days does not pay for that, so the warm-up goes on until the compiler takes no more than this share.
 */
const COMPILER = { thread: 'JITWorker', shareMax: 0.02, warmUpsMax: 6 };

/** A load that is put on every candidate by turns. */
export interface Load {
  readonly name: LoadName;
  readonly title: string;
  readonly plan: Omit<LoadPlan, 'endpoint'>;
  readonly generate: LoadGenerator;
  /** Loads that show latency need no warm-up of their own, and are put on the simulator alone as well. */
  readonly shows: 'cpu' | 'latency';
}

/** Returns all loads in the order in which they are measured. */
export function listLoads(generate: LoadGenerator, options: BenchOptions): readonly Load[] {
  const { jsonSeconds, latencySeconds, streamSeconds } = options;
  const single = { kind: 'json', connections: 1, seconds: latencySeconds } as const;
  const json = { kind: 'json', connections: CONNECTIONS, seconds: jsonSeconds } as const;
  return [
    { name: 'json', title: 'JSON', plan: json, generate, shows: 'cpu' },
    { name: 'single', title: 'JSON at 1 connection', plan: single, generate, shows: 'latency' },
    {
      name: 'steady',
      title: 'JSON at 200 a second',
      plan: { ...single, connections: STEADY_CONNECTIONS },
      generate: generateSteady,
      shows: 'latency',
    },
    { name: 'long', title: 'JSON of 32 kB', plan: { ...json, kind: 'long' }, generate, shows: 'cpu' },
    {
      name: 'stream',
      title: 'streams',
      plan: { kind: 'stream', connections: CONNECTIONS, seconds: streamSeconds },
      generate,
      shows: 'cpu',
    },
  ];
}

/** A few requests at a time, as from a handful of people. */
const generateSteady: LoadGenerator = (plan) => runSteadyLoad(plan, STEADY_REQUESTS_PER_SECOND);

/** Repeats the load until the runtime's compiler has little left to do. */
export async function warmUp({ process, endpoint }: RunningCandidate, { plan, generate }: Load, seconds: number): Promise<void> {
  for (let count = 0; count < COMPILER.warmUpsMax; count += 1) {
    if (!(await isCompiling(process.pid, () => generate({ ...plan, endpoint, seconds })))) return;
  }
}

/** Puts a load on a candidate that has become quiet. */
export async function measureTurn({ process, endpoint }: RunningCandidate, { plan, generate, title }: Load): Promise<Turn> {
  await untilQuiet(process.pid);
  const beforeMicros = readCpuMicros(process.pid);
  const result = await generate({ ...plan, endpoint });
  await sleep(SETTLE_MS);
  const usedMicros = readCpuMicros(process.pid) - beforeMicros;
  if (process.hasExited()) throw new Error(`${process.name} ended: ${process.readLogTail()}`);
  if (result.completed === 0) throw new Error(`${process.name} completed no request of ${title}`);
  return { ...result, cpuMicros: usedMicros / result.completed };
}

/** Whether the compiler took more than its share of the process's CPU time while the load ran. */
async function isCompiling(pid: number, load: () => Promise<unknown>): Promise<boolean> {
  const read = (): readonly [number, number] => [readCpuMicros(pid), readThreadMicros(pid, COMPILER.thread)];
  const [allBefore, compilerBefore] = read();
  await load();
  const [all, compiler] = read();
  return compiler - compilerBefore > COMPILER.shareMax * (all - allBefore);
}

/** Waits until the process is almost idle. */
async function untilQuiet(pid: number): Promise<void> {
  const giveUpAtMs = performance.now() + QUIET.waitMsMax;
  let usedMicros = 0;
  do {
    const beforeMicros = readCpuMicros(pid);
    await sleep(QUIET.sampleMs);
    usedMicros = readCpuMicros(pid) - beforeMicros;
  } while (usedMicros > QUIET.cpuMicrosMax && performance.now() < giveUpAtMs);
}
