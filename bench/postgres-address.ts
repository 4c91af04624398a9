import { InvalidArgumentError } from 'commander';

export const POSTGRES_HELP =
  'address of an empty PostgreSQL database to measure, such as postgres://user@127.0.0.1/bench (default: an embedded database)';

/** Reads the address on the command line of a benchmark. */
export function readPostgresAddress(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text)) return text;
  throw new InvalidArgumentError('It must begin with postgres:// or postgresql://.');
}
