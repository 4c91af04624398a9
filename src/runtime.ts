const MAX_REQUESTS = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
const MAX_REQUESTS_VALUE = '65336';

/**
 * The runtime allows 256 outgoing requests at a time and reads that number once, before our first line runs. So the
 * process starts itself over with the number set: the same process id, for the cost of a few milliseconds.
 */
export function ensureRuntimeSettings(): void {
  if (process.env[MAX_REQUESTS] !== undefined || process.execve === undefined) return;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...definedOnly(process.env),
    [MAX_REQUESTS]: MAX_REQUESTS_VALUE,
  });
}

function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
