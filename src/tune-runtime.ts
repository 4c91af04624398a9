import { readFileSync } from 'node:fs';

/** Settings that the runtime reads from the environment in which it was started. What the operator has set stays. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Threads for name lookups and the flush of charges, which share them: by default there are as many as cores, and names that do not
  // resolve block them all.
  UV_THREADPOOL_SIZE: '32',
  // Compiled code is kept. By default it is discarded after a while, however often it runs, and compiled again.
  BUN_JSC_forceCodeBlockLiveness: '1',
  // Free memory is returned to the system once a second instead of ten times, because most of it is needed again by then.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
};

/**
 * Starts a server with the settings it runs best with: replaces the process by the same program with the variables set. It keeps its id,
 * its standard streams and its ignored signals.
 */
export function tuneRuntime(): void {
  try {
    // Not process.env, which also has the variables of a file .env: the runtime does not obey those, and it reads the file again.
    const given = readList('/proc/self/environ').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    const environment = Object.fromEntries(given) as Record<string, string>;
    const missing = Object.keys(SETTINGS).filter((name) => (environment[name] ?? '') === '');
    if (missing.length === 0) return;
    for (const name of missing) environment[name] = process.env[name] || (SETTINGS[name] ?? '');
    process.execve?.(process.execPath, readList('/proc/self/cmdline'), environment);
  } catch {
    // Not Linux, or a system that forbids this: the server works without the settings too.
  }
}

/** Reads a file of texts, each of which ends with a NUL. */
function readList(path: string): string[] {
  return readFileSync(path, 'utf8').split('\0').slice(0, -1);
}
