import type { StartOptions } from '../stage.ts';

type Program = Pick<StartOptions, 'command'> & { readonly environment: Record<string, string> };

/** Returns the command that starts a TypeScript program on the benchmark's own runtime. */
export function bunProgram(path: string, parameters: readonly string[]): Program {
  return {
    // A `.env` file would change the measurement.
    command: [process.execPath, '--no-env-file', path, ...parameters],
    // By default Bun makes at most 256 outgoing requests at a time. Larger values than this are refused.
    environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
  };
}
