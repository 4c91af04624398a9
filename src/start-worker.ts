import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A thread opens some files before it runs. If it cannot, the runtime ends the whole process. */
const FILES_FREE_MIN = 16;

/**
 * Starts a thread. Throws if no more files can be opened, for example because too many connections are open. `path` is the thread's
 * program, relative to `src/` and without extension. In the bundle and the executable it is compiled and lies beside the main program.
 */
export function startWorker(path: string, options?: WorkerOptions): Worker {
  const files: number[] = [];
  try {
    while (files.length < FILES_FREE_MIN) files.push(openSync(devNull, 'r'));
  } finally {
    for (const file of files) closeSync(file);
  }
  const isBuilt = import.meta.url.endsWith('.js') || import.meta.url.includes('/$bunfs/');
  return new Worker(new URL(isBuilt ? `./${path}.js` : `./${path}.ts`, import.meta.url), options);
}
