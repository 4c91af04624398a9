/**
 * The address of a thread's program. `path` is relative to `src/` and has no ending: in the bundle and in the executable
 * all programs are compiled and lie where the main one does.
 */
export function workerUrl(path: string): URL {
  const isBuilt = import.meta.url.endsWith('.js') || import.meta.url.includes('/$bunfs/');
  return new URL(isBuilt ? `./${path}.js` : `./${path}.ts`, import.meta.url);
}
