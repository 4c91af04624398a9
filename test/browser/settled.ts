import type { Page } from 'playwright-core';

const PLACEHOLDERS = 'main :is([aria-busy=true], .animate-shimmer)';

/** Waits until the page shows all its data. A quiet network is not enough: a busy machine may take long to run what it has loaded. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.locator('h1').first().waitFor();
  await page.locator(PLACEHOLDERS).first().waitFor({ state: 'detached' });
}
