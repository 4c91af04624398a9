import type { Bar } from './bars.ts';
import { divideCpu, type Spread } from './figures.ts';
import { findValid, listFaults, type LoadFigures, type Outcome, type Results } from './results.ts';

const HEADINGS = [
  'candidate',
  'JSON cpu us',
  'x base',
  'p50 ms',
  'p99 ms',
  'p50 ms, 1 conn',
  'p50 ms, 200/s',
  'long cpu us',
  'x base',
  'stream cpu us',
  'x base',
  'p99 ms',
  'peak MB',
] as const;

/** Up to this many cores kept busy by other programs, the machine counts as quiet. */
const QUIET_CORES_MAX = 0.1;

const VERDICTS = { ok: 'ok', missed: 'MISSED', skipped: 'skipped' } as const;

/** Renders the results as a table for people. */
export function renderTable(results: Results, bars: readonly Bar[]): string {
  const rows = results.outcomes.flatMap((outcome) => {
    const row = renderRow(results, outcome);
    return row === undefined ? [] : [row];
  });
  return [
    `${results.machine}; load by ${results.driver}, chunks ${results.paceMs} ms apart; medians of ${results.rounds} turns`,
    '',
    ...alignColumns([HEADINGS, ...rows]),
    '',
    `without anything in between: p50 ${results.direct.single.p50Ms.toFixed(3)} ms at 1 connection, ${results.direct.steady.p50Ms.toFixed(3)} ms at 200 requests a second`,
    ...renderMemory(results),
    ...renderLedger(results),
    ...renderNoise(results.otherProgramsCores),
    ...results.outcomes.flatMap(renderRemarks),
    ...renderFaults('the simulator alone', results.direct),
    '',
    ...alignColumns(
      bars.map((bar) => [bar.promise, renderFigure(bar), bar.spread === undefined ? '' : renderSpread(bar.spread), VERDICTS[bar.verdict]]),
    ),
    '',
  ].join('\n');
}

/** Renders the results as one JSON object for programs. */
export function renderJson(results: Results, bars: readonly Bar[]): string {
  return `${JSON.stringify({ ...results, bars }, undefined, 2)}\n`;
}

function renderRow(results: Results, outcome: Outcome): readonly string[] | undefined {
  if (outcome.type !== 'measured') return undefined;
  const { json, long, single, steady, stream } = outcome.loads;
  const baseline = findValid(results, 'bare');
  return [
    outcome.title,
    json.cpuMicros.toFixed(1),
    renderRatio(divideCpu(json, baseline?.json)),
    json.p50Ms.toFixed(2),
    json.p99Ms.toFixed(2),
    single.p50Ms.toFixed(3),
    steady.p50Ms.toFixed(3),
    long.cpuMicros.toFixed(0),
    renderRatio(divideCpu(long, baseline?.long)),
    stream.cpuMicros.toFixed(0),
    renderRatio(divideCpu(stream, baseline?.stream)),
    stream.p99Ms.toFixed(0),
    outcome.peakMb.toFixed(0),
  ];
}

function renderRatio(ratio: Spread | undefined): string {
  return ratio === undefined ? '-' : `${ratio.median.toFixed(2)} ${renderSpread(ratio)}`;
}

/** Readers see from the extremes how much to trust the median. */
function renderSpread({ lowest, highest }: Spread): string {
  return `(${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}

function renderMemory(results: Results): readonly string[] {
  return Object.entries(results.memory).map(([name, { idleMb, peakMb, completed, faults }]) => {
    const figures = `idle ${idleMb.toFixed(0)} MB, peak ${peakMb.toFixed(0)} MB`;
    const invalid = faults.length > 0 ? `; INVALID: ${faults.join(', ')}` : '';
    return `500 concurrent streams, ${name}: ${figures}, ${completed} complete${invalid}`;
  });
}

function renderLedger({ ledger }: Results): readonly string[] {
  return ledger.map(
    ({ rows, requestMicros, statementMs, verifySeconds }) =>
      `ledger with ${rows} requests: ${requestMicros.toFixed(1)} us a request, statement page ${statementMs.toFixed(1)} ms, verified in ${verifySeconds.toFixed(1)} s`,
  );
}

function renderNoise(otherProgramsCores: number): readonly string[] {
  if (otherProgramsCores < QUIET_CORES_MAX) return [];
  return [`NOISY: other programs kept ${otherProgramsCores.toFixed(2)} cores busy meanwhile; run again on a quiet machine`];
}

function renderRemarks(outcome: Outcome): readonly string[] {
  if (outcome.type === 'absent') return [`skipped ${outcome.name}: ${outcome.reason}`];
  if (outcome.type === 'failed') return [`FAILED ${outcome.name}: ${outcome.reason}`];
  return renderFaults(outcome.name, outcome.loads);
}

function renderFaults(name: string, loads: Partial<LoadFigures>): readonly string[] {
  const faults = listFaults(loads);
  return faults.length > 0 ? [`INVALID ${name}: ${faults.join(', ')}`] : [];
}

function renderFigure({ figure, unit }: Bar): string {
  return figure === undefined ? 'not measured' : `${figure.toFixed(2)} ${unit}`;
}

function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  '),
  );
}
