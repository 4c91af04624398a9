import { divideCpu, type Spread, subtractLatency } from './figures.ts';
import { findValid, type Results } from './results.ts';

const JSON_RATIO_MAX = 1.9;
const STREAM_RATIO_MAX = 1.15;
/** Of the gate by itself, with a plain balance in place of the ledger. */
const GATE_JSON_RATIO_MAX = 1.6;
const GATE_STREAM_RATIO_MAX = 1.3;
const PORTKEY_RATIO_MIN = 10;
const MEMORY_MB_MAX = 100;
const ADDED_P50_MS_MAX = 0.8;
const VERIFY_SECONDS_MAX = 20;
const STATEMENT_MS_MAX = 50;
const GROWTH_MAX = 1.25;

/** A performance promise of this project, with the measured figure. */
export interface Bar {
  readonly promise: string;
  /** Absent if this run did not measure it. */
  readonly figure: number | undefined;
  /** The rounds whose median the figure is, of bars that compare turns. */
  readonly spread?: Spread | undefined;
  readonly unit: 'x' | 'MB' | 'ms' | 's';
  readonly verdict: 'ok' | 'missed' | 'skipped';
}

/** Compares the results with all performance promises. */
export function judgeBars(results: Results): readonly Bar[] {
  return [...judgeLoads(results), ...judgeGate(results), ...judgeLedger(results)];
}

function judgeGate(results: Results): readonly Bar[] {
  const gate = findValid(results, 'gate');
  const baseline = findValid(results, 'bare');
  return [
    judge({
      promise: `JSON without the ledger: at most ${GATE_JSON_RATIO_MAX} x the CPU of the baseline`,
      ...middle(divideCpu(gate?.json, baseline?.json)),
      unit: 'x',
      isKept: (ratio) => ratio <= GATE_JSON_RATIO_MAX,
    }),
    judge({
      promise: `streams without the ledger: at most ${GATE_STREAM_RATIO_MAX} x the CPU of the baseline`,
      ...middle(divideCpu(gate?.stream, baseline?.stream)),
      unit: 'x',
      isKept: (ratio) => ratio <= GATE_STREAM_RATIO_MAX,
    }),
  ];
}

function judgeLoads(results: Results): readonly Bar[] {
  const tollgate = findValid(results, 'tollgate');
  const baseline = findValid(results, 'bare');
  const portkey = findValid(results, 'portkey');
  const memory = results.memory.tollgate;
  return [
    judge({
      promise: `JSON: at most ${JSON_RATIO_MAX} x the CPU of the baseline`,
      ...middle(divideCpu(tollgate?.json, baseline?.json)),
      unit: 'x',
      isKept: (ratio) => ratio <= JSON_RATIO_MAX,
    }),
    judge({
      promise: `streams: at most ${STREAM_RATIO_MAX} x the CPU of the baseline`,
      ...middle(divideCpu(tollgate?.stream, baseline?.stream)),
      unit: 'x',
      isKept: (ratio) => ratio <= STREAM_RATIO_MAX,
    }),
    judge({
      promise: `JSON: at least ${PORTKEY_RATIO_MIN} x less CPU than Portkey`,
      ...middle(divideCpu(portkey?.json, tollgate?.json)),
      unit: 'x',
      isKept: (ratio) => ratio >= PORTKEY_RATIO_MIN,
    }),
    judge({
      promise: `500 concurrent streams: under ${MEMORY_MB_MAX} MB resident`,
      figure: memory === undefined || memory.faults.length > 0 ? undefined : memory.peakMb,
      unit: 'MB',
      isKept: (megabytes) => megabytes < MEMORY_MB_MAX,
    }),
    judge({
      promise: `200 requests a second: under ${ADDED_P50_MS_MAX} ms added at the median`,
      ...middle(subtractLatency(tollgate?.steady, results.direct.steady)),
      unit: 'ms',
      isKept: (added) => added < ADDED_P50_MS_MAX,
    }),
  ];
}

function judgeLedger({ ledger }: Results): readonly Bar[] {
  const [smallest, largest] = [ledger[0], ledger.at(-1)];
  return [
    judge({
      promise: `ledger: a request costs at most ${GROWTH_MAX} x with ${largest?.rows ?? 0} requests in it`,
      figure: divide(largest?.requestMicros, smallest?.requestMicros),
      unit: 'x',
      isKept: (growth) => growth <= GROWTH_MAX,
    }),
    judge({
      promise: `ledger: ${largest?.rows ?? 0} requests verified in under ${VERIFY_SECONDS_MAX} s`,
      figure: largest?.verifySeconds,
      unit: 's',
      isKept: (seconds) => seconds < VERIFY_SECONDS_MAX,
    }),
    judge({
      promise: `ledger: a page of a statement in under ${STATEMENT_MS_MAX} ms`,
      figure: largest?.statementMs,
      unit: 'ms',
      isKept: (milliseconds) => milliseconds < STATEMENT_MS_MAX,
    }),
  ];
}

type Judgement = Omit<Bar, 'verdict'> & { readonly isKept: (figure: number) => boolean };

function judge({ isKept, ...bar }: Judgement): Bar {
  if (bar.figure === undefined) return { ...bar, verdict: 'skipped' };
  return { ...bar, verdict: isKept(bar.figure) ? 'ok' : 'missed' };
}

function middle(spread: Spread | undefined): Pick<Bar, 'figure' | 'spread'> {
  return { figure: spread?.median, spread };
}

function divide(dividend: number | undefined, divisor: number | undefined): number | undefined {
  return dividend === undefined || divisor === undefined ? undefined : dividend / divisor;
}
