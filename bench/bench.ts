/** `npm run bench`: measures what Tollgate costs on top of a bare proxy. See docs/benchmarks.md. */
import { judgeBars } from './bars.ts';
import { type BenchOptions, parseOptions, USAGE, UsageError } from './options.ts';
import { renderJson, renderTable } from './report.ts';
import { hasFailure } from './results.ts';
import { runBenchmark } from './run-benchmark.ts';
import { Stage } from './stage.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(parameters: readonly string[]): Promise<number> {
  const options = readOptions(parameters);
  if (typeof options === 'number') return options;
  if (process.platform !== 'linux') {
    process.stderr.write('bench: needs Linux, where /proc has the CPU time of a process\n');
    return 1;
  }
  const stage = new Stage();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stage.clear().finally(() => process.exit(130)));
  }
  try {
    return await runAndReport(stage, options);
  } finally {
    await stage.clear();
  }
}

/** Returns the options, or the exit code if there is nothing to run. */
function readOptions(parameters: readonly string[]): BenchOptions | number {
  try {
    const options = parseOptions(parameters);
    if (options !== 'help') return options;
    process.stdout.write(USAGE);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 1;
  }
}

/** Runs and reports. A missed bar is a failure only with `--strict`. */
async function runAndReport(stage: Stage, options: BenchOptions): Promise<number> {
  const results = await runBenchmark(stage, options);
  const bars = judgeBars(results);
  process.stdout.write(options.isJson ? renderJson(results, bars) : renderTable(results, bars));
  const isMissed = bars.some((bar) => bar.verdict === 'missed');
  return hasFailure(results) || (options.isStrict && isMissed) ? 1 : 0;
}
