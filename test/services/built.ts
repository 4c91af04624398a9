import { buildWeb } from '../../scripts/build-web.ts';

/**
 * `npm test` builds the server and its pages once, from the sources that it tests, and says so by this variable. Whoever runs
 * a file by `bun test` may have changed the sources since: then nothing that was built before is trusted.
 */
const isBuilt = process.env['TEST_BUILT'] === 'true';

/** The program that tests start, from the project's folder: what `npm start` runs, which starts in half the time, or the sources. */
export const MAIN = isBuilt ? 'dist/server/main.js' : 'src/main.ts';

/** Sees to it that the server has pages to give. */
export async function buildPages(): Promise<void> {
  if (!isBuilt && !(await buildWeb())) throw new Error('The pages could not be built; what went wrong is printed above.');
}
