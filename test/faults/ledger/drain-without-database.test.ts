import { describe, expect, test } from 'bun:test';
import { postgresUrl, startPrivatePostgres } from '../../services/postgres.ts';
import type { PrivatePostgres } from '../../services/private-postgres.ts';
import { childrenOf, signalProcess } from '../../services/processes.ts';
import { ask, errorCodeOf, isFinished } from './ask.ts';
import { makeChat, obeyMessages } from './load.ts';
import { openSite } from './site.ts';

/** The time docs/operations.md allows for the database, plus some for a busy machine. */
const EXIT_WITHIN_MS = 50_000;
const SHORT = { words: 1, gapMs: 0, isStreaming: false };

/** How the database goes away and comes back. */
const AWAY: readonly (readonly [
  name: string,
  leave: (postgres: PrivatePostgres) => Promise<void>,
  back: (postgres: PrivatePostgres) => Promise<void>,
])[] = [
  ['is gone', (postgres) => postgres.kill(), (postgres) => postgres.restart()],
  ['hangs', (postgres) => signalAll(postgres, 'SIGSTOP'), (postgres) => signalAll(postgres, 'SIGCONT')],
];

describe.skipIf(postgresUrl === undefined)('a server that is stopped while its database', () => {
  test.concurrent.each(AWAY)(
    '%s logs what it could not close, and exits with 0',
    async (_, leave, back) => {
      const postgres = await startPrivatePostgres();
      const site = await openSite({ store: 'postgres', databaseUrl: postgres.url });
      try {
        const key = await site.makeKey('10');
        const node = await site.startNode();
        obeyMessages(site.provider);
        expect(isFinished(await ask(node.origin, key, makeChat(SHORT)))).toBe(true);
        await leave(postgres);
        try {
          // The use of the key has yet to be written.
          expect(errorCodeOf(await ask(node.origin, key, makeChat(SHORT)))).toBe('ledger_unavailable');
          expect(await node.terminate(EXIT_WITHIN_MS)).toBe(0);
        } finally {
          await back(postgres);
        }
        const messages = node.logLines().map(({ msg }) => msg);
        expect(messages).toContain('the last uses of keys could not be closed');
        expect(messages.at(-1)).toBe('ended');
        await site.verify();
      } finally {
        await site.stop();
        await postgres.stop();
      }
    },
    150_000,
  );
});

async function signalAll({ pid }: PrivatePostgres, signal: NodeJS.Signals): Promise<void> {
  for (const each of [pid, ...childrenOf(pid)]) signalProcess(each, signal);
}
