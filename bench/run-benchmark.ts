import { candidates } from './candidates/all.ts';
import { type Candidate, type CandidateName, plainEndpoint } from './candidates/candidate.ts';
import { runTimedLoad } from './driver.ts';
import { measureLedger } from './ledger.ts';
import type { LoadGenerator, LoadResult } from './load.ts';
import { describeMachine, watchOtherPrograms } from './machine.ts';
import { JSON_CONNECTIONS, measureRound, measureSingle, measureSteady, type Round } from './measure.ts';
import { measureMemory, type MemoryFigures } from './memory.ts';
import type { BenchOptions } from './options.ts';
import { type Outcome, pickBest, type Results } from './results.ts';
import type { Stage } from './stage.ts';
import { startUpstream } from './start-upstream.ts';
import { verifyEndpoint } from './verify.ts';
import { createWrkGenerator } from './wrk.ts';

const MEMORY_CANDIDATES: ReadonlySet<CandidateName> = new Set(['bare', 'tollgate']);

/** Measures every selected candidate, never two at a time: on a small machine they would disturb each other. */
export async function runBenchmark(stage: Stage, options: BenchOptions): Promise<Results> {
  const selected = candidates.filter((candidate) => options.only.includes(candidate.name));
  const driver = chooseDriver(options);
  const bench: Bench = {
    stage,
    options,
    generate: driver === 'wrk' ? createWrkGenerator(stage) : runTimedLoad,
  };
  const countOthers = watchOtherPrograms();
  const direct = await measureDirect(bench);
  const runs = new Map<Candidate, Run>(selected.map((each) => [each, { rounds: [] }]));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [candidate, run] of runs) {
      if (run.end !== undefined) continue;
      report(`round ${round} of ${options.rounds}: ${candidate.title}`);
      await runRound(bench, candidate, run);
    }
  }
  return {
    machine: describeMachine(),
    driver,
    paceMs: options.paceMs,
    outcomes: selected.map((candidate) => concludeRun(candidate, runs.get(candidate))),
    directP50Ms: direct.single.p50Ms,
    directSteadyP50Ms: direct.steady.p50Ms,
    memory: await measureAllMemory(stage, runs),
    ledger: options.only.includes('tollgate') ? await measureLedger(report) : [],
    otherProgramsCores: countOthers(),
  };
}

interface Bench {
  readonly stage: Stage;
  readonly options: BenchOptions;
  readonly generate: LoadGenerator;
}

/** A candidate's rounds so far, and the reason if there will be no more. */
interface Run {
  readonly rounds: Round[];
  end?: { readonly type: 'absent' | 'failed'; readonly reason: string };
}

function chooseDriver({ driver }: BenchOptions): 'wrk' | 'built-in' {
  const hasWrk = Bun.which('wrk') !== null;
  if (driver === 'wrk' && !hasWrk) throw new Error('--driver wrk: wrk is not installed');
  if (driver === 'auto') return hasWrk ? 'wrk' : 'built-in';
  return driver;
}

async function measureDirect({ stage, options, generate }: Bench): Promise<{ readonly single: LoadResult; readonly steady: LoadResult }> {
  report('the simulator alone');
  const upstream = await startUpstream(stage, options.paceMs);
  const endpoint = plainEndpoint(upstream.origin);
  // Warm it up as behind the candidates: a cold simulator is slow, and they would seem to add little.
  await generate({ endpoint, kind: 'json', connections: JSON_CONNECTIONS, seconds: options.warmUpSeconds });
  const single = await measureSingle(endpoint, generate, options);
  const steady = await measureSteady(endpoint, options);
  await stage.stopAll();
  return { single, steady };
}

async function runRound(bench: Bench, candidate: Candidate, run: Run): Promise<void> {
  const { stage, options, generate } = bench;
  try {
    const upstream = await startUpstream(stage, options.paceMs);
    const started = await candidate.start(stage, upstream.origin);
    if (started.type === 'absent') {
      run.end = started;
      report(`skipped ${candidate.name}: ${started.reason}`);
      return;
    }
    await verifyEndpoint(started.endpoint, options.paceMs);
    run.rounds.push(await measureRound(started, generate, options));
  } catch (error) {
    run.end = { type: 'failed', reason: describeError(error) };
    report(`FAILED ${candidate.name}: ${run.end.reason}`);
  } finally {
    await stage.stopAll();
  }
}

function concludeRun({ name, title }: Candidate, run: Run | undefined): Outcome {
  if (run?.end !== undefined) return { name, title, ...run.end };
  const [first, ...others] = run?.rounds ?? [];
  if (first === undefined) throw new Error(`${name} was never measured`);
  return { name, title, type: 'measured', best: pickBest([first, ...others]) };
}

async function measureAllMemory(stage: Stage, runs: ReadonlyMap<Candidate, Run>): Promise<Results['memory']> {
  const memory: Partial<Record<CandidateName, MemoryFigures>> = {};
  for (const [candidate, run] of runs) {
    if (run.end !== undefined || !MEMORY_CANDIDATES.has(candidate.name)) continue;
    report(`memory at 500 concurrent streams: ${candidate.title}`);
    try {
      const figures = await measureMemory(candidate, stage);
      if (figures !== undefined) memory[candidate.name] = figures;
    } catch (error) {
      memory[candidate.name] = failedMemory(error);
    } finally {
      await stage.stopAll();
    }
  }
  return memory;
}

function failedMemory(error: unknown): MemoryFigures {
  return { idleMb: Number.NaN, peakMb: Number.NaN, completed: 0, faults: [describeError(error)] };
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Prints progress to standard error: standard output contains only the result. */
function report(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
