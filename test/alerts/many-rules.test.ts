import { expect, test } from 'bun:test';
import { Accounts } from '../../src/accounts/accounts.ts';
import { AlertRules } from '../../src/alerts/rules.ts';
import { watchAlerts } from '../../src/alerts/watch.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const RULES = 20;

eachStore((database) => {
  test('other work gets its turn between rules, however many there are', async () => {
    const { kysely } = database();
    const account = await new Accounts(kysely).create('ada@example.com', false);
    const rule = { kind: 'low_balance', threshold: 0n, byMail: true, byWebhook: false } as const;
    for (let count = 0; count < RULES; count += 1) await new AlertRules(kysely).create(account?.id ?? '', rule);
    const failures: unknown[] = [];
    const turns = await turnsDuring(() => watchAlerts(kysely, Date.now(), (error) => void failures.push(error)));
    expect(turns).toBeGreaterThanOrEqual(RULES - 1);
    expect(failures).toEqual([]);
  });
});
