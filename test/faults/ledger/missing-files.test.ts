import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../until.ts';
import { ask, errorCodeOf, isFinished } from './ask.ts';
import { judge, readBooks } from './judge.ts';
import { describeBody, invoiceOf, makeChat, obeyMessages, type Sent } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey } from './site.ts';

const SHORT = { words: 3, gapMs: 0, isStreaming: false };
/** Begins before the files are gone and ends after that was noticed. */
const LONG = { words: 100, gapMs: 100, isStreaming: true };
const NOTICED_WITHIN_MS = 60_000;
const FILES = ['tollgate.db', 'tollgate.db-wal', 'tollgate.db-shm'];

let site: Site;
let node: GatewayNode;
let key: SiteKey;
const sent: Sent[] = [];
const sinceMs = Date.now();

beforeAll(async () => {
  site = await openSite({ store: 'sqlite' });
  key = await site.makeKey('1000');
  node = await site.startNode();
  obeyMessages(site.provider);
}, 120_000);
afterAll(() => site.stop(), 120_000);

async function send(wish = SHORT): Promise<Sent> {
  const body = makeChat(wish);
  const each = { ...(await ask(node.origin, key, body)), key, ...describeBody(body) };
  sent.push(each);
  return each;
}

async function readiness(): Promise<number> {
  return (await fetch(`${node.origin}/readyz`)).status;
}

async function expectRefused(): Promise<void> {
  await until(async () => (await readiness()) === 503, NOTICED_WITHIN_MS);
  const refused = await send();
  expect([refused.status, errorCodeOf(refused)]).toEqual([500, 'ledger_unavailable']);
  expect(invoiceOf(site.provider).has(refused.message)).toBe(false);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed in the meantime.
    return '';
  }
}

async function expectAllCharged(): Promise<void> {
  judge(sent, await site.withDatabase((database) => readBooks(database, sinceMs)), invoiceOf(site.provider));
  await site.verify();
}

test('files that were moved stop new work but no running answer, until they are back', async () => {
  const elsewhere = join(site.dataFolder, 'moved');
  mkdirSync(elsewhere);
  const running = send(LONG);
  await site.provider.untilRequests(1);
  for (const file of FILES) renameSync(join(site.dataFolder, file), join(elsewhere, file));
  await expectRefused();
  expect(node.logLines().filter(({ msg }) => String(msg).startsWith('the database files were moved'))).toHaveLength(1);
  expect(isFinished(await running)).toBe(true);
  for (const file of FILES) renameSync(join(elsewhere, file), join(site.dataFolder, file));
  await until(async () => (await readiness()) === 200, NOTICED_WITHIN_MS);
  expect(isFinished(await send())).toBe(true);
  await expectAllCharged();
}, 180_000);

test('deleted files can be saved from the running server', async () => {
  for (const file of FILES) rmSync(join(site.dataFolder, file));
  await expectRefused();
  const open = `/proc/${node.pid}/fd`;
  const copies = readdirSync(open).flatMap((name) => {
    const file = FILES.find((each) => linkOf(join(open, name)).endsWith(`/${each} (deleted)`));
    return file === undefined || file.endsWith('-shm') ? [] : [{ from: join(open, name), to: join(site.dataFolder, file) }];
  });
  for (const { from, to } of copies) copyFileSync(from, to);
  await node.kill();
  node = await site.startNode();
  expect(isFinished(await send())).toBe(true);
  await expectAllCharged();
}, 180_000);
