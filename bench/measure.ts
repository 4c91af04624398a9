import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint, RunningCandidate } from './candidates/candidate.ts';
import { runSteadyLoad } from './driver.ts';
import type { LoadGenerator, LoadPlan, LoadResult } from './load.ts';
import type { BenchOptions } from './options.ts';
import { readCpuMicros, readMemoryMb, readThreadMicros } from './process-tree.ts';

/** Connections of the JSON loads. */
export const JSON_CONNECTIONS = 64;
const STREAM_CONNECTIONS = 64;
const STEADY_CONNECTIONS = 8;
const STEADY_REQUESTS_PER_SECOND = 200;

/** Work deferred until after the response (logs, batched charges) counts as part of the load. */
const SETTLE_MS = 500;
/**
 * Work left over from a warm-up does not count: the clients disconnect in the middle of their streams at its end, which causes work for
 * seconds.
 */
const QUIET = { sampleMs: 250, cpuMicrosMax: 10_000, waitMsMax: 10_000 };

/**
 * The runtime compiles code in threads of its own while the server runs: with streams for more than a minute, because there are few of them a
 * second. A server that runs for days does not pay for that, so the warm-up goes on until the compiler takes no more than this share.
 */
const COMPILER = { thread: 'JITWorker', shareMax: 0.02, warmUpsMax: 6 };

/** The result of one load, with the candidate's CPU time per completed request. */
export interface Figures extends LoadResult {
  readonly cpuMicros: number;
}

/** Everything measured on one candidate in one round. */
export interface Round {
  readonly json: Figures;
  /** JSON requests of 32 kB. */
  readonly long: Figures;
  readonly single: LoadResult;
  readonly steady: LoadResult;
  readonly stream: Figures;
  readonly peakMb: number;
}

/** Runs all loads on one started candidate, with a warm-up before each kind. */
export async function measureRound(
  { process, endpoint }: RunningCandidate,
  generate: LoadGenerator,
  options: BenchOptions,
): Promise<Round> {
  const withCpu = async (plan: LoadPlan): Promise<Figures> => {
    const warmUp = { ...plan, seconds: options.warmUpSeconds };
    for (let count = 0; count < COMPILER.warmUpsMax; count += 1) if (!(await isCompiling(process.pid, () => generate(warmUp)))) break;
    await untilQuiet(process.pid);
    const beforeMicros = readCpuMicros(process.pid);
    const result = await generate(plan);
    if (result.completed === 0) throw new Error(`${process.name} completed no ${plan.kind} request`);
    await sleep(SETTLE_MS);
    const usedMicros = readCpuMicros(process.pid) - beforeMicros;
    return { ...result, cpuMicros: usedMicros / result.completed };
  };
  const json = await withCpu({
    endpoint,
    kind: 'json',
    connections: JSON_CONNECTIONS,
    seconds: options.jsonSeconds,
  });
  const single = await measureSingle(endpoint, generate, options);
  const steady = await measureSteady(endpoint, options);
  const long = await withCpu({ endpoint, kind: 'long', connections: JSON_CONNECTIONS, seconds: options.jsonSeconds });
  const stream = await withCpu({
    endpoint,
    kind: 'stream',
    connections: STREAM_CONNECTIONS,
    seconds: options.streamSeconds,
  });
  if (process.hasExited()) throw new Error(`${process.name} ended: ${process.readLogTail()}`);
  return { json, long, single, steady, stream, peakMb: readMemoryMb(process.pid, 'VmHWM') };
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

/** Measures the latency that a candidate adds for a few requests at a time, as from a handful of people. */
export function measureSteady(endpoint: Endpoint, options: BenchOptions): Promise<LoadResult> {
  const plan: LoadPlan = { endpoint, kind: 'json', connections: STEADY_CONNECTIONS, seconds: options.singleSeconds };
  return runSteadyLoad(plan, STEADY_REQUESTS_PER_SECOND);
}

/** Measures the latency that a candidate adds to a call on one connection without other load. */
export function measureSingle(endpoint: Endpoint, generate: LoadGenerator, options: BenchOptions): Promise<LoadResult> {
  return generate({ endpoint, kind: 'json', connections: 1, seconds: options.singleSeconds });
}
