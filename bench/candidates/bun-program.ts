import type { StartOptions } from '../stage.ts';

type Program = Pick<StartOptions, 'command'> & { readonly environment: Record<string, string> };

/** How a TypeScript program is started on the runtime that runs the benchmark itself. */
export function bunProgram(path: string, parameters: readonly string[]): Program {
  return {
    // A `.env` file of the operator would change what is measured.
    command: [process.execPath, '--no-env-file', path, ...parameters],
    // Bun makes at most 256 outgoing requests at a time unless told otherwise; a larger number than this is refused.
    environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
  };
}
