import { describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from './chromium.ts';

const WITHIN_MS = 25_000;

describe.skipIf(chromiumPath === undefined)('Chromium', () => {
  test('shows a page and runs its script', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'tollgate-chromium-'));
    const page = 'data:text/html,<title>toll</title><script>document.title += 1 + 1</script>';
    // The sandbox does not work for root, who runs the tests in containers. The page is our own.
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`, '--dump-dom'];
    const child = Bun.spawn([chromiumPath ?? '', ...flags, page], { stdout: 'pipe', stderr: 'ignore', timeout: WITHIN_MS });
    expect(await new Response(child.stdout).text()).toContain('<title>toll2</title>');
    expect(await child.exited).toBe(0);
    await rm(profile, { recursive: true, force: true });
  });
});
