import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { findProgram } from './program.ts';

/** Path of a Chromium; undefined if there is none. Skip tests with `describe.skipIf(chromiumPath === undefined)`. */
export const chromiumPath: string | undefined = given() ?? (await find());

/** Starts a headless browser. */
export function launchChromium(): Promise<Browser> {
  // The sandbox does not work for root, who runs the tests in containers. The pages are our own.
  const args = ['--no-sandbox', UNOPTIMIZED, `--disable-features=${[...OFF_FOR_SPEED, ...OFF_BY_PLAYWRIGHT].join(',')}`];
  return chromium.launch({ executablePath: chromiumPath ?? '', args });
}

const CLOSED_WITHIN_MS = 5000;

/**
 * Closes a context or the browser. Chromium does not always confirm that; the test is over by then, and the browser ends with the tests.
 */
export async function close(opened: Browser | BrowserContext | undefined): Promise<void> {
  await Promise.race([closeNow(opened), Bun.sleep(CLOSED_WITHIN_MS)]);
}

/** Requests that a test still holds back or answers itself would otherwise fail, and the next test with them. */
async function closeNow(opened: Browser | BrowserContext | undefined): Promise<void> {
  if (opened === undefined) return;
  const contexts = 'contexts' in opened ? opened.contexts() : [opened];
  const routed = contexts.flatMap((context) => [context, ...context.pages()]);
  await Promise.all(routed.map((each) => each.unrouteAll({ behavior: 'ignoreErrors' })));
  await opened.close();
}

/** Optimization costs a fifth of all work, and no page is open long enough to benefit. */
const UNOPTIMIZED = '--js-flags=--no-opt,--no-maglev';

/** The browser's own pages for its address bar, which is not visible here. In every new context they cost as much as one of our pages. */
const OFF_FOR_SPEED = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

/** Only the last such list counts, so the features that Playwright turns off must be in this one too. */
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
  if (path !== undefined && !existsSync(path)) throw new Error(`TEST_CHROMIUM is ${path}, but there is no such file.`);
  return path;
}

function find(): Promise<string | undefined> {
  return findProgram({
    title: 'Chromium',
    names: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome-stable',
      'google-chrome',
      'Chromium',
      'Google Chrome',
    ],
    folders: ['/usr/lib/chromium', '/opt/google/chrome', '/Applications/{Chromium,Google Chrome}.app/Contents/MacOS'],
    debianPackage: 'chromium-headless-shell',
    variable: 'TEST_CHROMIUM',
  });
}
