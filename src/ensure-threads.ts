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
    // Not process.env, which also has the variables of a file .env: the runtime's threads do not obey those.
    const environment = readFileSync('/proc/self/environ', 'utf8').split('\0');
    if (environment.some((variable) => variable.startsWith(`${VARIABLE}=`) && variable.length > VARIABLE.length + 1)) return;
    const command = readFileSync('/proc/self/cmdline', 'utf8').split('\0').slice(0, -1);
    const chosen = process.env[VARIABLE] ?? '';
    process.execve?.(process.execPath, command, { ...process.env, [VARIABLE]: chosen === '' ? THREADS : chosen });
  } catch {
    // Not Linux, or a system that forbids this: the server works with fewer threads too.
  }
}
