import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { isRunning } from '../services/processes.ts';
import { ask, isFinished } from './ledger/ask.ts';
import { makeChat } from './ledger/load.ts';
import type { GatewayNode } from './ledger/node.ts';
import { openSite, type Site } from './ledger/site.ts';

/** Fewer than are already open, as if more connections had been opened than the system allows. */
const TOO_FEW = 8;
const ENOUGH = 1024;
const CHAT = makeChat({ words: 1, gapMs: 0, isStreaming: true });

let site: Site;
let node: GatewayNode;

beforeAll(async () => {
  site = await openSite({ store: 'sqlite' });
  node = await site.startNode();
}, 120_000);
afterAll(() => site.stop(), 120_000);

test('a server that runs out of file descriptors continues without the token-counting worker, and gets it back later', async () => {
  const key = await site.makeKey('10');
  // Without a usage report the gate must count by itself.
  site.provider.always({ type: 'answer', text: ' word'.repeat(5), usage: null, gapMs: 100 });
  const answer = ask(node.origin, key, CHAT);
  await site.provider.untilRequests(1);
  allowFiles(TOO_FEW);
  expect(isFinished(await answer)).toBe(true);
  expect(isRunning(node.pid)).toBe(true);
  expect(node.logLines().filter(({ msg }) => msg === 'tokens could not be counted')).toMatchObject([{ code: 'EMFILE' }]);

  allowFiles(ENOUGH);
  expect(isFinished(await ask(node.origin, key, CHAT))).toBe(true);
  expect(node.logLines().filter(({ msg }) => msg === 'tokens could not be counted')).toHaveLength(1);
  const rows = await site.withDatabase((database) => database.selectFrom('usage').select(['is_estimated', 'outcome']).execute());
  expect(rows).toEqual([1, 2].map(() => ({ is_estimated: 1n, outcome: 'completed' })));
  await site.verify();
}, 120_000);

function allowFiles(filesMax: number): void {
  expect(spawnSync('prlimit', ['--pid', String(node.pid), `--nofile=${filesMax}:`]).status).toBe(0);
}
