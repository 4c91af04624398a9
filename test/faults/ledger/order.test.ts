import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { openSqlite } from '../../../src/database/sqlite.ts';
import { postgresUrl } from '../../services/postgres.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { Usage } from '../../simulator/wire.ts';
import { ask, type Asked, isFinished } from './ask.ts';
import { findCall, makeChat, obeyMessages, describeBody } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey, type Store } from './site.ts';
import { until } from '../../until.ts';

/** Long enough for anything that does not wait for the ledger to happen, and shorter than the ledger's timeout. */
const BLOCKED_MS = 700;

describe.each<Store>(['sqlite', ...(postgresUrl === undefined ? [] : (['postgres'] as const))])(
  'while nothing can be written on %s',
  (store) => {
    let site: Site;
    let node: GatewayNode;
    let key: SiteKey;

    beforeAll(async () => {
      site = await openSite({ store });
      node = await site.startNode();
      key = await site.makeKey('10');
      obeyMessages(site.provider);
      // From here on the gateway knows the key without a query.
      expect(isFinished(await ask(node.origin, key, makeChat({ words: 1, gapMs: 0, isStreaming: false })))).toBe(true);
    }, 120_000);
    afterAll(() => site.stop(), 120_000);

    test.each([false, true])(
      'no provider is called (streamed: %p)',
      async (isStreaming) => {
        const body = makeChat({ words: 3, gapMs: 0, isStreaming });
        const { message } = describeBody(body);
        const answers: Promise<Asked>[] = [];
        await whileBlocked(async () => {
          answers.push(ask(node.origin, key, body));
          await Bun.sleep(BLOCKED_MS);
          expect(findCall(site.provider, message)).toBeUndefined();
        });
        expect((await Promise.all(answers)).map(isFinished)).toEqual([true]);
      },
      60_000,
    );

    test.each([false, true])(
      'no answer ends (streamed: %p)',
      async (isStreaming) => {
        const body = makeChat({ words: 6, gapMs: 100, isStreaming });
        const { message } = describeBody(body);
        let isEnded = false;
        const answer = ask(node.origin, key, body).finally(() => (isEnded = true));
        await until(() => findCall(site.provider, message));
        await whileBlocked(async () => {
          await until(() => findCall(site.provider, message)?.finishedAt);
          await Bun.sleep(BLOCKED_MS);
          expect(isEnded).toBe(false);
        });
        const asked = await answer;
        expect(isFinished(asked)).toBe(true);
        const row = await site.withDatabase((database) =>
          database
            .selectFrom('usage')
            .selectAll()
            .where('request_id', '=', asked.requestId ?? '')
            .executeTakeFirst(),
        );
        expect(row?.cost).toBe(costNanos(findCall(site.provider, message)?.usage as Usage));
      },
      60_000,
    );

    /** Keeps the ledger from writing for as long as the work takes. */
    async function whileBlocked(work: () => Promise<void>): Promise<void> {
      if (store === 'sqlite') await holdingWriteLock(site.place.databasePath, work);
      else await lockingWallets(site, work);
    }
  },
);

async function holdingWriteLock(databasePath: string, work: () => Promise<void>): Promise<void> {
  const database = openSqlite(databasePath);
  database.run('BEGIN IMMEDIATE');
  try {
    await work();
  } finally {
    database.run('ROLLBACK');
    database.close(true);
  }
}

async function lockingWallets(site: Site, work: () => Promise<void>): Promise<void> {
  await site.withDatabase((database) =>
    database.transaction().execute(async (transaction) => {
      await sql`SELECT 1 FROM wallets FOR UPDATE`.execute(transaction);
      await work();
    }),
  );
}
