const MAX_REQUESTS = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
const MAX_REQUESTS_VALUE = '65535';
const EMBEDDED_ROOT = '/$bunfs/';

/**
 * The runtime allows 256 outgoing requests at a time and reads that number once, before our first line runs. So the
 * process starts itself over with the number set: the same process id, for the cost of a few milliseconds.
 */
export function ensureRuntimeSettings(): void {
  if (process.env[MAX_REQUESTS] !== undefined || process.execve === undefined) return;
  const program = process.argv[1] ?? '';
  // In the built executable the program is part of the runtime and is not named again.
  const script = program.startsWith(EMBEDDED_ROOT) ? [] : [program];
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...script, ...process.argv.slice(2)], {
    ...definedOnly(process.env),
    [MAX_REQUESTS]: MAX_REQUESTS_VALUE,
  });
}

function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
