import { candidates } from './candidates/all.ts';
import type { Candidate, CandidateName } from './candidates/candidate.ts';
import { runTimedLoad } from './driver.ts';
import { measureLedger } from './ledger.ts';
import { describeMachine, watchOtherPrograms } from './machine.ts';
import { measureMemory, type MemoryFigures } from './memory.ts';
import type { BenchOptions } from './options.ts';
import { describeError, type Results } from './results.ts';
import type { Stage } from './stage.ts';
import { takeTurns } from './take-turns.ts';
import { createWrkGenerator } from './wrk.ts';

const MEMORY_CANDIDATES: ReadonlySet<CandidateName> = new Set(['bare', 'tollgate']);

/** Measures every selected candidate, never two at a time: on a small machine they would disturb each other. */
export async function runBenchmark(stage: Stage, options: BenchOptions): Promise<Results> {
  const selected = candidates.filter((candidate) => options.only.includes(candidate.name));
  const driver = chooseDriver(options);
  const generate = driver === 'wrk' ? createWrkGenerator(stage) : runTimedLoad;
  const countOthers = watchOtherPrograms();
  const { outcomes, direct } = await takeTurns({ stage, options, generate, report }, selected);
  const measured = selected.filter(({ name }) => outcomes.some((outcome) => outcome.name === name && outcome.type === 'measured'));
  return {
    machine: describeMachine(),
    driver,
    paceMs: options.paceMs,
    rounds: options.rounds,
    outcomes,
    direct,
    memory: await measureAllMemory(stage, measured),
    ledger: options.only.includes('tollgate') ? await measureLedger(report) : [],
    otherProgramsCores: countOthers(),
  };
}

function chooseDriver({ driver }: BenchOptions): 'wrk' | 'built-in' {
  const hasWrk = Bun.which('wrk') !== null;
  if (driver === 'wrk' && !hasWrk) throw new Error('--driver wrk: wrk is not installed');
  if (driver === 'auto') return hasWrk ? 'wrk' : 'built-in';
  return driver;
}

async function measureAllMemory(stage: Stage, measured: readonly Candidate[]): Promise<Results['memory']> {
  const memory: Partial<Record<CandidateName, MemoryFigures>> = {};
  for (const candidate of measured.filter(({ name }) => MEMORY_CANDIDATES.has(name))) {
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

/** Prints progress to standard error: standard output contains only the result. */
function report(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
