import { parseArgs } from 'node:util';
import { CANDIDATE_NAMES, type CandidateName } from './candidates/candidate.ts';

/** Options of a benchmark run. */
export interface BenchOptions {
  /** How many turns each candidate takes at each load. The following are the seconds of a turn. */
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly jsonSeconds: number;
  readonly latencySeconds: number;
  readonly streamSeconds: number;
  readonly paceMs: number;
  readonly only: readonly CandidateName[];
  readonly driver: 'auto' | 'wrk' | 'built-in';
  readonly isJson: boolean;
  readonly isStrict: boolean;
}

/** An invalid command line; the message names the part at fault. */
export class UsageError extends Error {}

/** The text of `--help`. */
export const USAGE = `Usage: npm run bench -- [flags]

Measures what Tollgate costs on top of a bare proxy. Needs Linux. Uses wrk, go, nginx and npm if
they are installed, and skips the others. Takes about half an hour.

  --quick              two rounds, shorter turns and warm-ups
  --rounds N           turns of each candidate at each load; the median counts (8)
  --warm-up-seconds N  warm-up before each kind of load, repeated while code is compiled (15)
  --json-seconds N     a turn of JSON requests at 64 connections (4)
  --stream-seconds N   a turn of streams at 64 connections (5)
  --pace-ms N          time between two chunks of a stream (5)
  --only a,b           only these of: ${CANDIDATE_NAMES.join(', ')}
  --driver NAME        auto, wrk or built-in (auto: wrk if it is installed)
  --json               print one JSON object instead of the table
  --strict             exit with code 1 if a bar is missed
  --help               print this
`;

/** Reads the command line, or throws a `UsageError`. */
export function parseOptions(parameters: readonly string[]): BenchOptions | 'help' {
  const flags = readFlags(parameters);
  if (flags.help === true) return 'help';
  const isQuick = flags.quick === true;
  return {
    rounds: readCount('--rounds', flags.rounds, { fallback: isQuick ? 2 : 8, least: 1 }),
    warmUpSeconds: readCount('--warm-up-seconds', flags['warm-up-seconds'], { fallback: isQuick ? 2 : 15, least: 1 }),
    jsonSeconds: readCount('--json-seconds', flags['json-seconds'], {
      fallback: isQuick ? 2 : 4,
      least: 1,
    }),
    latencySeconds: isQuick ? 1 : 2,
    streamSeconds: readCount('--stream-seconds', flags['stream-seconds'], {
      fallback: isQuick ? 3 : 5,
      least: 1,
    }),
    paceMs: readCount('--pace-ms', flags['pace-ms'], { fallback: 5, least: 0 }),
    only: readNames(flags.only),
    driver: readDriver(flags.driver),
    isJson: flags.json === true,
    isStrict: flags.strict === true,
  };
}

function readFlags(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        'warm-up-seconds': { type: 'string' },
        'json-seconds': { type: 'string' },
        'stream-seconds': { type: 'string' },
        'pace-ms': { type: 'string' },
        only: { type: 'string' },
        driver: { type: 'string' },
        json: { type: 'boolean' },
        strict: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readCount(
  flag: string,
  text: string | undefined,
  { fallback, least }: { readonly fallback: number; readonly least: number },
): number {
  if (text === undefined) return fallback;
  const count = Number(text);
  if (text !== '' && Number.isInteger(count) && count >= least) return count;
  throw new UsageError(`${flag} takes a whole number of at least ${least}, not "${text}"`);
}

function readNames(text: string | undefined): readonly CandidateName[] {
  if (text === undefined) return CANDIDATE_NAMES;
  return text.split(',').map((part) => {
    const name = CANDIDATE_NAMES.find((known) => known === part.trim());
    if (name !== undefined) return name;
    throw new UsageError(`--only knows ${CANDIDATE_NAMES.join(', ')}, not "${part}"`);
  });
}

function readDriver(text: string | undefined): BenchOptions['driver'] {
  if (text === undefined || text === 'auto') return 'auto';
  if (text === 'wrk' || text === 'built-in') return text;
  throw new UsageError(`--driver takes auto, wrk or built-in, not "${text}"`);
}
