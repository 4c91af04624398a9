/**
 * Preloaded by `npm test`. A server that tests start in their own process runs its threads from the bundle, as `npm start` does: reading
 * hundreds of sources takes half a second of a core for each server.
 */
const SOURCES = new URL('../../src/', import.meta.url).href;
const BUNDLE = new URL('../../dist/server/', import.meta.url).href;

class BundledWorker extends Worker {
  constructor(program: string | URL, options?: WorkerOptions) {
    const { href } = new URL(program);
    super(href.startsWith(SOURCES) ? href.replace(SOURCES, BUNDLE).replace(/\.ts$/u, '.js') : href, options);
  }
}

globalThis.Worker = BundledWorker;
