import { expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { ALERT_KINDS, AlertRules, RULES_MAX, type AlertKind } from '../../src/alerts/rules.ts';
import { watchAlerts } from '../../src/alerts/watch.ts';
import type { Tables } from '../../src/database/tables.ts';
import { makeId } from '../../src/ids.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const ACCOUNTS = 30;
const KINDS = Object.keys(ALERT_KINDS) as AlertKind[];

/** Creates accounts with an alert of every kind each. Only those about the balance depend on the threshold: it is zero. */
async function addRules(kysely: Kysely<Tables>, threshold: bigint): Promise<void> {
  await kysely.deleteFrom('alert_rules').execute();
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const account = await new Accounts(kysely).create(`${makeId('user')}@example.com`, false);
    const rows = KINDS.map((kind) => ({
      id: makeId('alert'),
      account_id: account?.id ?? '',
      kind,
      threshold: kind === 'low_balance' ? threshold : 50n,
      by_mail: 1,
      by_webhook: 0,
      created_at: Date.now(),
    }));
    await kysely.insertInto('alert_rules').values(rows).execute();
  }
}

eachStore((database) => {
  test('alerts of many accounts are looked at together, as long as nothing happens', async () => {
    const { kysely } = database();
    await addRules(kysely, 0n);
    let statements = 0;
    const counted = kysely.withPlugin({
      transformQuery: ({ node }) => {
        statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const failures: unknown[] = [];
    await watchAlerts(counted, Date.now(), (error) => void failures.push(error));
    expect(failures).toEqual([]);
    expect(statements).toBeGreaterThan(KINDS.length);
    expect(statements).toBeLessThan(ACCOUNTS * 2);
  });

  test('other work gets its turn between alerts that fire, however many there are', async () => {
    const { kysely } = database();
    await addRules(kysely, 1n);
    const failures: unknown[] = [];
    const turns = await turnsDuring(() => watchAlerts(kysely, Date.now(), (error) => void failures.push(error)));
    expect(turns).toBeGreaterThanOrEqual(ACCOUNTS - 1);
    expect(failures).toEqual([]);
    expect(await kysely.selectFrom('alert_states').select('rule_id').execute()).toHaveLength(ACCOUNTS);
  });

  test('an account can have a limited number of rules, even if many are created at once', async () => {
    const { kysely } = database();
    const rules = new AlertRules(kysely);
    const account = await new Accounts(kysely).create(`${makeId('user')}@example.com`, false);
    const add = () => rules.create(account?.id ?? '', { kind: 'low_balance', threshold: 1n, byMail: true, byWebhook: false });
    for (let count = 2; count < RULES_MAX; count += 1) expect(await add()).toBeDefined();
    const created = await Promise.all(Array.from({ length: 6 }, add));
    expect(created.filter((rule) => rule !== undefined)).toHaveLength(2);
    expect(await add()).toBeUndefined();
  });
});
