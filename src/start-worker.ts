import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A thread opens some files before it runs, and the runtime ends the whole process where it cannot. */
const FILES_FREE_MIN = 16;

/**
 * Starts a thread; throws where no file can be opened any more, as when too many connections are open. `path` is that of its program,
 * relative to `src/` and without ending: in the bundle and in the executable all programs are compiled and lie where the main one does.
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
