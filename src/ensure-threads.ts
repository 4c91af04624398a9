import { readFileSync } from 'node:fs';

const VARIABLE = 'UV_THREADPOOL_SIZE';
const THREADS = '32';

/**
 * Gives the runtime enough threads for name lookups and the flush of charges, which share them: by default there are as many as cores, and
 * names that do not resolve block them all. The runtime reads the number from the environment in which it was started, so this replaces the
 * process by the same program with the variable set. It keeps its id, its standard streams and its ignored signals.
 */
export function ensureThreads(): void {
  try {
    // Not process.env, which also has the variables of a file .env: the runtime's threads do not obey those, and it reads the file again.
    const given = readList('/proc/self/environ').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    const environment = Object.fromEntries(given) as Record<string, string>;
    if ((environment[VARIABLE] ?? '') !== '') return;
    const chosen = process.env[VARIABLE] ?? '';
    process.execve?.(process.execPath, readList('/proc/self/cmdline'), { ...environment, [VARIABLE]: chosen === '' ? THREADS : chosen });
  } catch {
    // Not Linux, or a system that forbids this: the server works with fewer threads too.
  }
}

/** Reads a file of texts, each of which ends with a NUL. */
function readList(path: string): string[] {
  return readFileSync(path, 'utf8').split('\0').slice(0, -1);
}
