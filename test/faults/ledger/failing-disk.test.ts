import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '../../services/processes.ts';
import { until } from '../../until.ts';
import { ask, errorCodeOf, isFinished } from './ask.ts';
import { makeChat, obeyMessages } from './load.ts';
import { openSite, type Site } from './site.ts';

const SHORT = { words: 3, gapMs: 0, isStreaming: false };
/** Still open when the disk fails, with its progress recorded. */
const LONG = { words: 200, gapMs: 50, isStreaming: true };
const LOST = 'the disk lost a write; the server stops, and the next start settles open holds';

let site: Site;

beforeAll(async () => {
  site = await openSite({ store: 'sqlite' });
  obeyMessages(site.provider);
}, 120_000);
afterAll(() => site.stop(), 120_000);

test('a disk that fails to keep a charge stops the server, and the next start settles open holds', async () => {
  const trigger = join(site.dataFolder, 'fail');
  const node = await site.startNode({
    wrapper: ['env', `BUN_OPTIONS=--preload=${join(import.meta.dirname, 'failing-sync.ts')}`, `FAIL_SYNC=${trigger}`],
  });
  const key = await site.makeKey('10');
  expect(isFinished(await ask(node.origin, key, makeChat(SHORT)))).toBe(true);
  const streamed = ask(node.origin, key, makeChat(LONG));
  await until(async () => (await readHolds()).some(({ progress }) => progress > 0n));

  await writeFile(trigger, '');
  expect(errorCodeOf(await ask(node.origin, key, makeChat(SHORT)))).toBe('ledger_unavailable');
  await until(() => !isRunning(node.pid));
  expect(node.logLines().find(({ msg }) => msg === LOST)).toMatchObject({ level: 'error', code: 'EIO' });
  expect(isFinished(await streamed)).toBe(false);

  await rm(trigger);
  const next = await site.startNode();
  expect(await readHolds()).toEqual([]);
  expect(isFinished(await ask(next.origin, key, makeChat(SHORT)))).toBe(true);
  await site.verify();
}, 120_000);

function readHolds() {
  return site.withDatabase((database) => database.selectFrom('holds').selectAll().execute());
}
