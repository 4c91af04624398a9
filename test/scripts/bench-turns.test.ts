import { expect, test } from 'bun:test';
import { judgeBars } from '../../bench/bars.ts';
import { bare } from '../../bench/candidates/bare.ts';
import type { Candidate } from '../../bench/candidates/candidate.ts';
import { divideCpu, subtractLatency, sumUp, type Turn } from '../../bench/figures.ts';
import type { LoadGenerator } from '../../bench/load.ts';
import { type BenchOptions, parseOptions } from '../../bench/options.ts';
import { renderTable } from '../../bench/report.ts';
import { hasFailure, type LoadFigures, type Outcome, type Results } from '../../bench/results.ts';
import { Stage } from '../../bench/stage.ts';
import { takeTurns } from '../../bench/take-turns.ts';

const LIMIT_MS = 60_000;

const makeTurn = (cpuMicros: number, rest: Partial<Turn> = {}): Turn => ({
  completed: 100,
  p50Ms: 1,
  p99Ms: 2,
  faults: [],
  cpuMicros,
  ...rest,
});
const makeFigures = (...micros: readonly number[]) => sumUp(micros.map((each) => makeTurn(each)));

test('the turns of a load give their medians, all their requests and all their faults', () => {
  const turns = [makeTurn(30), makeTurn(90, { p50Ms: 9, faults: ['1 answers were not 200'] }), makeTurn(40, { p99Ms: 7, completed: 50 })];
  expect(sumUp(turns)).toEqual({ completed: 250, cpuMicros: 40, p50Ms: 1, p99Ms: 2, faults: ['1 answers were not 200'], turns });
  expect(makeFigures(10, 40, 20, 90).cpuMicros).toBe(30);
});

test('a slow minute of the machine does not change a ratio, since each turn is divided by the one of the same round', () => {
  const baseline = makeFigures(50, 100, 50, 100, 75);
  const candidate = makeFigures(100, 210, 95, 200, 150);
  expect(divideCpu(candidate, baseline)).toEqual({ median: 2, lowest: 1.9, highest: 2.1 });
  expect(divideCpu(baseline, baseline)).toEqual({ median: 1, lowest: 1, highest: 1 });
  expect(divideCpu(candidate, undefined)).toBeUndefined();
  expect(divideCpu(undefined, baseline)).toBeUndefined();
});

test('the added latency is the median of the differences of the rounds', () => {
  const alone = sumUp([makeTurn(1, { p50Ms: 0.5 }), makeTurn(1, { p50Ms: 2 }), makeTurn(1, { p50Ms: 0.5 })]);
  const candidate = sumUp([makeTurn(1, { p50Ms: 1 }), makeTurn(1, { p50Ms: 2.75 }), makeTurn(1, { p50Ms: 1.5 })]);
  expect(subtractLatency(candidate, alone)).toEqual({ median: 0.75, lowest: 0.5, highest: 1 });
});

test('bars are judged on the ratios of the rounds, which the table prints with their extremes', () => {
  const results = makeResults(
    makeOutcome('bare', { json: makeFigures(50, 100, 50), stream: makeFigures(1000, 2000, 1000) }),
    makeOutcome('tollgate', { json: makeFigures(90, 180, 100), stream: makeFigures(1200, 2500, 1100) }),
  );
  const bars = judgeBars(results);
  expect(bars.slice(0, 3)).toMatchObject([
    { figure: 1.8, spread: { lowest: 1.8, highest: 2 }, verdict: 'ok' },
    { figure: 1.2, spread: { lowest: 1.1, highest: 1.25 }, verdict: 'missed' },
    { figure: undefined, verdict: 'skipped' },
  ]);
  const table = renderTable(results, bars);
  expect(table).toMatch(/streams: at most 1.15 x .* 1\.20 x +\(1\.10 to 1\.25\) +MISSED/);
  expect(table).toMatch(/^tollgate +100\.0 +1\.80 \(1\.80 to 2\.00\)/m);
  expect(hasFailure(results)).toBe(false);
});

test('the gate without the ledger has bars of its own', () => {
  const results = makeResults(
    makeOutcome('bare', { json: makeFigures(50), stream: makeFigures(1000) }),
    makeOutcome('gate', { json: makeFigures(75), stream: makeFigures(1400) }),
  );
  expect(judgeBars(results).filter(({ promise }) => promise.includes('without the ledger'))).toMatchObject([
    { figure: 1.5, verdict: 'ok' },
    { figure: 1.4, verdict: 'missed' },
  ]);
});

test('a fault in a single turn makes the run invalid, and its bars are not judged', () => {
  const faulty = sumUp([makeTurn(90), makeTurn(90, { faults: ['3 requests timed out'] }), makeTurn(90)]);
  const results = makeResults(makeOutcome('bare', {}), makeOutcome('tollgate', { json: faulty }));
  expect(hasFailure(results)).toBe(true);
  expect(judgeBars(results)[0]).toMatchObject({ figure: undefined, verdict: 'skipped' });
  expect(renderTable(results, judgeBars(results))).toContain('INVALID tollgate: 3 requests timed out');
});

test('without the baseline there are no ratios', () => {
  const results = makeResults(makeOutcome('tollgate', {}));
  expect(judgeBars(results).slice(0, 2)).toMatchObject([{ verdict: 'skipped' }, { verdict: 'skipped' }]);
  expect(renderTable(results, judgeBars(results))).toMatch(/^tollgate +50\.0 +- /m);
});

test('rounds and the seconds of a turn are flags', () => {
  expect(parseOptions([])).toMatchObject({ rounds: 8, jsonSeconds: 4, streamSeconds: 5 });
  expect(parseOptions(['--quick'])).toMatchObject({ rounds: 2 });
  expect(parseOptions(['--quick', '--rounds', '5', '--json-seconds=6'])).toMatchObject({ rounds: 5, jsonSeconds: 6 });
  expect(() => parseOptions(['--rounds', '0'])).toThrow('--rounds takes a whole number of at least 1, not "0"');
});

test.skipIf(process.platform !== 'linux')(
  'candidates take turns in the same order, and one that fails leaves while the others go on',
  async () => {
    const stage = new Stage();
    const order: string[] = [];
    const names = new Map<string, string>();
    const named = (candidate: Candidate): Candidate => ({
      ...candidate,
      start: async (...parameters) => {
        const started = await candidate.start(...parameters);
        if (started.type === 'running') names.set(started.endpoint.url, candidate.name);
        return started;
      },
    });
    const options = { ...readOptions(), rounds: 2, warmUpSeconds: 1, latencySeconds: 0.05, paceMs: 0 };
    const generate: LoadGenerator = async ({ endpoint, kind, connections, seconds }) => {
      const name = names.get(endpoint.url) ?? 'alone';
      if (seconds !== options.warmUpSeconds) order.push(`${kind} ${connections} ${name}`);
      if (name === 'go' && connections === 1) throw new Error('no answer');
      return { completed: 10, p50Ms: 1, p99Ms: 2, faults: [] };
    };
    const absent: Candidate = { name: 'nginx', title: 'nginx', start: async () => ({ type: 'absent', reason: 'not installed' }) };
    try {
      const { outcomes, direct } = await takeTurns({ stage, options, generate, report: () => undefined }, [
        absent,
        named({ ...bare, name: 'go' }),
        named(bare),
      ]);
      expect(order.slice(0, 7)).toEqual([
        'json 64 go',
        'json 64 bare',
        'json 64 go',
        'json 64 bare',
        'json 1 alone',
        'json 1 go',
        'json 1 bare',
      ]);
      expect(order.slice(7)).toEqual(['json 1 alone', 'json 1 bare', 'long 64 bare', 'long 64 bare', 'stream 64 bare', 'stream 64 bare']);
      expect(outcomes).toMatchObject([
        { name: 'nginx', type: 'absent', reason: 'not installed' },
        { name: 'go', type: 'failed', reason: 'no answer' },
        { name: 'bare', type: 'measured', loads: { json: { completed: 20 }, stream: { completed: 20 } } },
      ]);
      expect(direct.single.turns).toHaveLength(2);
      expect(stage.listRunning()).toEqual([]);
    } finally {
      await stage.clear();
    }
  },
  LIMIT_MS,
);

function readOptions(): BenchOptions {
  const options = parseOptions(['--quick']);
  if (options === 'help') throw new Error('no help was requested');
  return options;
}

function makeOutcome(name: Outcome['name'], loads: Partial<LoadFigures>): Outcome {
  const same = makeFigures(50, 50, 50);
  return {
    name,
    title: name,
    type: 'measured',
    peakMb: 50,
    loads: { json: same, single: same, steady: same, long: same, stream: same, ...loads },
  };
}

function makeResults(...outcomes: readonly Outcome[]): Results {
  const direct = { single: makeFigures(10, 10, 10), steady: makeFigures(10, 10, 10) };
  return { machine: 'a machine', driver: 'wrk', paceMs: 5, rounds: 3, outcomes, direct, ledger: [], memory: {}, otherProgramsCores: 0 };
}
