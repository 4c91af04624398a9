import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { findProgram } from './program.ts';

/** The path of a Chromium; undefined where there is none, and then tests are to be skipped: `describe.skipIf(chromiumPath === undefined)`. */
export const chromiumPath: string | undefined = given() ?? (await find());

/** Starts a browser without a window. */
export function launchChromium(): Promise<Browser> {
  // The sandbox does not work for root, who runs the tests in containers; the pages are ours.
  const args = ['--no-sandbox', UNOPTIMIZED, `--disable-features=${[...OFF_FOR_SPEED, ...OFF_BY_PLAYWRIGHT].join(',')}`];
  return chromium.launch({ executablePath: chromiumPath ?? '', args });
}

const CLOSED_WITHIN_MS = 5000;

/** Closes a context or the browser. Chromium does not always say that it has; what was to be seen has been seen by then, and it ends with the tests. */
export async function close(opened: Browser | BrowserContext | undefined): Promise<void> {
  await Promise.race([opened?.close(), Bun.sleep(CLOSED_WITHIN_MS)]);
}

/** No page is open for long enough to earn what its optimization costs, which is a fifth of all work. */
const UNOPTIMIZED = '--js-flags=--no-opt,--no-maglev';

/** Pages of the browser itself, for its address bar, which nobody sees here: in every new context they cost as much as a page of ours. */
const OFF_FOR_SPEED = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

/** Of several such lists the last counts, so what Playwright switches off must be in this one too. */
const OFF_BY_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

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
