import { existsSync } from 'node:fs';
import { findProgram } from './program.ts';

/** The path of a Chromium; undefined where there is none, and then tests are to be skipped: `describe.skipIf(chromiumPath === undefined)`. */
export const chromiumPath: string | undefined = given() ?? (await find());

function given(): string | undefined {
  const path = process.env['TEST_CHROMIUM'];
  if (path !== undefined && !existsSync(path)) throw new Error(`TEST_CHROMIUM is ${path}, where there is no file.`);
  return path;
}

function find(): Promise<string | undefined> {
  return findProgram({
    title: 'Chromium',
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'Chromium', 'Google Chrome'],
    folders: ['/usr/lib/chromium', '/opt/google/chrome', '/Applications/{Chromium,Google Chrome}.app/Contents/MacOS'],
    debianPackage: 'chromium',
    variable: 'TEST_CHROMIUM',
  });
}
