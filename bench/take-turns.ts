import { type AbsentCandidate, type Candidate, plainEndpoint, type RunningCandidate } from './candidates/candidate.ts';
import { type LoadName, sumUp, type Turn } from './figures.ts';
import type { LoadGenerator } from './load.ts';
import { CONNECTIONS, listLoads, type Load, measureTurn, warmUp } from './measure.ts';
import type { BenchOptions } from './options.ts';
import { readMemoryMb } from './process-tree.ts';
import { describeError, type LoadFigures, type Outcome } from './results.ts';
import type { Stage, StagedProcess } from './stage.ts';
import { startUpstream } from './start-upstream.ts';
import { verifyEndpoint } from './verify.ts';

/** What every measurement needs. */
export interface Bench {
  readonly stage: Stage;
  readonly options: BenchOptions;
  readonly generate: LoadGenerator;
  /** Prints a line of progress. */
  readonly report: (line: string) => void;
}

/** The loads on all candidates, and on the simulator with nothing in between. */
export interface TakenTurns {
  readonly outcomes: readonly Outcome[];
  readonly direct: Pick<LoadFigures, 'single' | 'steady'>;
}

/**
 * Measures all selected candidates side by side: they take turns of a few seconds at each load, so that a slow minute of the machine hits
 * all of them. Only one is under load at a time.
 */
export async function takeTurns(bench: Bench, selected: readonly Candidate[]): Promise<TakenTurns> {
  const { stage, generate, options } = bench;
  try {
    const direct = await enter(bench, 'the simulator alone', () => startSimulator(bench));
    const entrants = new Map<Candidate, Entrant>();
    for (const candidate of selected) entrants.set(candidate, await enter(bench, candidate.title, () => startCandidate(bench, candidate)));
    for (const load of listLoads(generate, options)) {
      await measureLoad(bench, load, load.shows === 'latency' ? [direct, ...entrants.values()] : [...entrants.values()]);
    }
    if (direct.state.type !== 'running') throw new Error(`${direct.title}: ${direct.state.reason}`);
    const outcomes = Array.from(entrants, ([candidate, entrant]) => conclude(candidate, entrant));
    return { outcomes, direct: { single: sumUp(direct.turns.single), steady: sumUp(direct.turns.steady) } };
  } finally {
    await stage.stopAll();
  }
}

/** A program that takes turns, with the turns it has taken. */
interface Entrant {
  readonly title: string;
  readonly processes: readonly StagedProcess[];
  readonly turns: Readonly<Record<LoadName, Turn[]>>;
  state: State;
}

type State = RunningCandidate | AbsentCandidate | { readonly type: 'failed'; readonly reason: string };

/** Starts a program that will take turns with those that are already running. */
async function enter({ stage, report }: Bench, title: string, start: () => Promise<State>): Promise<Entrant> {
  report(`start: ${title}`);
  const others = stage.listRunning();
  const state = await start().catch(fail);
  const processes = stage.listRunning().filter((each) => !others.includes(each));
  const entrant: Entrant = { title, processes, turns: { json: [], single: [], steady: [], long: [], stream: [] }, state };
  if (state.type !== 'running') await leave(entrant, report);
  return entrant;
}

async function startSimulator({ stage, options, generate }: Bench): Promise<State> {
  const { process, origin } = await startUpstream(stage, options.paceMs);
  const endpoint = plainEndpoint(origin);
  // Warm it up as behind the candidates: a cold simulator is slow, and they would seem to add little.
  await generate({ endpoint, kind: 'json', connections: CONNECTIONS, seconds: options.warmUpSeconds });
  return { type: 'running', process, endpoint };
}

async function startCandidate({ stage, options }: Bench, candidate: Candidate): Promise<State> {
  const upstream = await startUpstream(stage, options.paceMs);
  const started = await candidate.start(stage, upstream.origin);
  if (started.type === 'running') await verifyEndpoint(started.endpoint, options.paceMs);
  return started;
}

async function measureLoad({ options, report }: Bench, load: Load, entrants: readonly Entrant[]): Promise<void> {
  if (load.shows === 'cpu') {
    for (const entrant of entrants) {
      await step(entrant, report, (running) => {
        report(`${load.title}, warm-up: ${entrant.title}`);
        return warmUp(running, load, options.warmUpSeconds);
      });
    }
  }
  for (let round = 1; round <= options.rounds; round += 1) {
    report(`${load.title}, round ${round} of ${options.rounds}`);
    for (const entrant of entrants) {
      await step(entrant, report, async (running) => void entrant.turns[load.name].push(await measureTurn(running, load)));
    }
  }
}

/** Does something with a running program. One that fails leaves, and the others go on. */
async function step(entrant: Entrant, report: Bench['report'], work: (running: RunningCandidate) => Promise<void>): Promise<void> {
  if (entrant.state.type !== 'running') return;
  try {
    await work(entrant.state);
  } catch (error) {
    entrant.state = fail(error);
    await leave(entrant, report);
  }
}

async function leave({ title, state, processes }: Entrant, report: Bench['report']): Promise<void> {
  if (state.type !== 'running') report(`${state.type === 'failed' ? 'FAILED' : 'skipped'} ${title}: ${state.reason}`);
  await Promise.all(processes.map((each) => each.stop()));
}

function fail(error: unknown): State {
  return { type: 'failed', reason: describeError(error) };
}

function conclude({ name, title }: Candidate, { state, turns }: Entrant): Outcome {
  if (state.type !== 'running') return { name, title, ...state };
  const loads: LoadFigures = {
    json: sumUp(turns.json),
    single: sumUp(turns.single),
    steady: sumUp(turns.steady),
    long: sumUp(turns.long),
    stream: sumUp(turns.stream),
  };
  return { name, title, type: 'measured', loads, peakMb: readMemoryMb(state.process.pid, 'VmHWM') };
}
