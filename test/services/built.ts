import { buildWeb } from '../../scripts/build-web.ts';

/**
 * `npm test` builds the server and its pages once from the tested sources, and sets this variable. With plain `bun test` the sources
 * may have changed since the last build, so earlier builds are not used.
 */
const isBuilt = process.env['TEST_BUILT'] === 'true';

/**
 * The program that tests start, relative to the project's folder: the bundle of `npm start`, which starts twice as fast, or the sources.
 */
export const MAIN = isBuilt ? 'dist/server/main.js' : 'src/main.ts';

/** Ensures that the server has pages to serve. */
export async function buildPages(): Promise<void> {
  if (!isBuilt && !(await buildWeb())) throw new Error('The pages could not be built; the errors are printed above.');
}
