import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readAudit } from '../../src/accounts/audit.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { KeyUses } from '../../src/accounts/key-uses.ts';
import { listDeliveries } from '../../src/alerts/deliveries.ts';
import { AlertRules, type AlertKind, type NewRule } from '../../src/alerts/rules.ts';
import { watchAlerts } from '../../src/alerts/watch.ts';
import { findWebhook, saveWebhook } from '../../src/alerts/webhooks.ts';
import { connect } from '../../src/database/connect.ts';
import { closeAccount } from '../../src/dashboard/people/close.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { insertPerson } from './insert-person.ts';

const DAY_MS = 86_400_000;
const USD = 1_000_000_000n;

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let store: OpenStore;
    let owner: Owner;
    let rules: AlertRules;
    beforeAll(async () => {
      store = await open();
      rules = new AlertRules(store.kysely);
    });
    beforeEach(async () => {
      await store.kysely.deleteFrom('alert_rules').execute();
      await store.kysely.deleteFrom('alert_deliveries').execute();
      owner = await Owner.at(store);
    });
    afterAll(() => store.close());

    async function addRule(kind: AlertKind, threshold: bigint, more: Partial<NewRule> = {}): Promise<string> {
      const rule = await rules.create(owner.account.id, { kind, threshold, byMail: true, byWebhook: false, ...more });
      return rule?.id ?? '';
    }

    async function check(nowMs = Date.now()): Promise<void> {
      const failures: unknown[] = [];
      await watchAlerts(store.kysely, nowMs, (error) => failures.push(error));
      expect(failures).toEqual([]);
    }

    /** The alerts sent, oldest first. */
    async function sentTitles(): Promise<string[]> {
      const deliveries = await listDeliveries(store.kysely, owner.account.id, 100);
      return deliveries.map(({ title }) => title).toReversed();
    }

    async function credit(nanos: bigint): Promise<void> {
      await owner.accounts.credit(owner.account, asNanos(nanos), { reason: 'test', actor: 'test' });
    }

    async function use({
      keyId = 'key_any',
      cost = 0n,
      requests = 1,
      errors = 0,
      atMs = Date.now(),
    }: {
      keyId?: string;
      cost?: bigint;
      requests?: number;
      errors?: number;
      atMs?: number;
    }): Promise<void> {
      const none = {
        input_tokens: 0,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
        first_token_ms: 0,
        first_token_count: 0,
        duration_ms: 0,
      };
      await store.kysely
        .insertInto('usage_rollups')
        .values({
          ...none,
          account_id: owner.account.id,
          key_id: keyId,
          model: crypto.randomUUID(),
          provider: '',
          quarter_hour: atMs - (atMs % 900_000),
          requests,
          errors,
          cost,
        })
        .execute();
    }

    async function spendOf(keyId: string, spent: bigint): Promise<void> {
      await store.kysely.updateTable('key_budgets').set({ spent }).where('key_id', '=', keyId).execute();
    }

    describe('a low-balance alert', () => {
      test('fires once each time the threshold is crossed', async () => {
        await credit(10n * USD);
        await addRule('low_balance', 5n * USD);
        await check();
        expect(await sentTitles()).toEqual([]);
        await credit(-6n * USD);
        await check();
        await check();
        expect(await sentTitles()).toEqual(['The balance is $4.00']);
        await credit(1n * USD);
        await check();
        await credit(-1n * USD);
        await check();
        expect(await sentTitles()).toEqual(['The balance is $4.00', 'The balance is $4.00']);
      });

      test('fires once, however many servers check at the same time', async () => {
        await addRule('low_balance', 5n * USD);
        await Promise.all(Array.from({ length: 6 }, () => check()));
        expect(await sentTitles()).toHaveLength(1);
      });

      test('fires once, even if a slow server read the balance before it fell', async () => {
        await credit(10n * USD);
        await addRule('low_balance', 5n * USD);
        const { kysely } = await connect(store);
        let isRead = false;
        const slow = kysely.withPlugin({
          transformQuery: ({ node }) => node,
          transformResult: async ({ result }) => {
            if (isRead || result.rows[0]?.['credits_posted'] === undefined) return result;
            isRead = true;
            await credit(-6n * USD);
            await check();
            return result;
          },
        });
        await watchAlerts(slow, Date.now(), (error) => expect(error).toBeUndefined());
        expect(isRead).toBe(true);
        await check();
        expect(await sentTitles()).toEqual(['The balance is $4.00']);
        await kysely.destroy();
      });

      test('fires again when the rule is changed', async () => {
        const id = await addRule('low_balance', 5n * USD);
        await check();
        await rules.update(owner.account.id, id, { threshold: 6n * USD, byMail: true, byWebhook: false });
        await check();
        expect(await sentTitles()).toHaveLength(2);
      });
    });

    test('a daily spend alert fires once a day', async () => {
      await addRule('spend_day', 3n * USD);
      await use({ cost: 2n * USD });
      await check();
      expect(await sentTitles()).toEqual([]);
      await use({ cost: 1n * USD });
      await check();
      await check();
      expect(await sentTitles()).toEqual(['$3.00 spent today']);
      const tomorrowMs = Date.now() + DAY_MS;
      await check(tomorrowMs);
      await use({ cost: 4n * USD, atMs: tomorrowMs });
      await check(tomorrowMs);
      expect(await sentTitles()).toEqual(['$3.00 spent today', '$4.00 spent today']);
    });

    test('a daily spend alert fires once, even if a slow server still checks that day after midnight', async () => {
      const midnightMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      await addRule('spend_day', 3n * USD);
      await use({ cost: 4n * USD, atMs: midnightMs - 60_000 });
      for (const afterMs of [-1000, 1000, -1]) await check(midnightMs + afterMs);
      expect(await sentTitles()).toEqual(['$4.00 spent today']);
      await check(midnightMs + 11 * 60_000);
      expect(await store.kysely.selectFrom('alert_states').selectAll().execute()).toEqual([]);
    });

    test('days begin when they do in the time zone of the owner', async () => {
      const accountId = owner.account.id;
      await insertPerson(store, { accountId, zone: 'Asia/Kathmandu' });
      await addRule('spend_day', 3n * USD);
      const midnightMs = Date.UTC(2026, 10, 15, 18, 15);
      await use({ cost: 4n * USD, atMs: midnightMs - 1 });
      await check(midnightMs);
      expect(await sentTitles()).toEqual([]);
      await use({ cost: 3n * USD, atMs: midnightMs });
      await check(midnightMs + DAY_MS - 1);
      const [delivery] = await listDeliveries(store.kysely, accountId, 1);
      expect(delivery).toMatchObject({ title: '$3.00 spent today', text: expect.stringContaining('since the day began (Asia/Kathmandu)') });
    });

    test('a monthly spend alert counts all days of the month', async () => {
      await addRule('spend_month', 3n * USD);
      const startMs = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth())).getTime();
      await use({ cost: 2n * USD, atMs: startMs });
      await use({ cost: 2n * USD, atMs: startMs - 1 });
      await check();
      expect(await sentTitles()).toEqual([]);
      await use({ cost: 1n * USD });
      await check();
      expect(await sentTitles()).toEqual(['$3.00 spent this month']);
    });

    test('key limit alerts fire at 50, 80 and 100 per cent, and again after the limit was raised', async () => {
      for (const percent of [50n, 80n, 100n]) await addRule('key_limit', percent);
      const { id } = await owner.keys.create(owner.account.id, { name: 'ci', budgets: { day: asNanos(100n), total: asNanos(100_000n) } });
      for (const spent of [49n, 50n, 79n, 85n, 99n]) {
        await spendOf(id, spent);
        await check();
      }
      expect(await sentTitles()).toEqual(['The key “ci” is at 50 % of its limit', 'The key “ci” is at 80 % of its limit']);
      const uses = new KeyUses();
      uses.noteRefusal(id, 'day', Date.now());
      await uses.write(store.kysely);
      await check();
      expect((await sentTitles()).at(-1)).toBe('The key “ci” is at its limit');
      await owner.keys.update(owner.by(id), { budgets: { day: asNanos(1000n) } });
      await check();
      await spendOf(id, 600n);
      await check();
      expect((await sentTitles()).slice(3)).toEqual(['The key “ci” is at 50 % of its limit']);
    });

    test('an error rate alert fires only when there are enough requests', async () => {
      await addRule('error_rate', 10n);
      await use({ requests: 5, errors: 5 });
      await check();
      expect(await sentTitles()).toEqual([]);
      await use({ requests: 45, errors: 0 });
      await check();
      await check();
      expect(await sentTitles()).toEqual(['10 % of requests are failing']);
    });

    test('an expiry alert fires once, and again for a changed expiry', async () => {
      await addRule('key_expiring', 7n);
      const { id } = await owner.keys.create(owner.account.id, { name: 'ci', expiresAtMs: Date.now() + 6 * DAY_MS });
      await owner.keys.create(owner.account.id, { name: 'later', expiresAtMs: Date.now() + 8 * DAY_MS });
      await check();
      await check();
      expect(await sentTitles()).toEqual(['The key “ci” expires soon']);
      await owner.keys.update(owner.by(id), { expiresAtMs: Date.now() + 5 * DAY_MS });
      await check();
      expect(await sentTitles()).toHaveLength(2);
    });

    describe('when servers check at different times, because their clocks differ or one is slow', () => {
      const MINUTE_MS = 60_000;
      /** Checks from two servers, one ahead of the other, several times while they disagree. */
      async function checkApart(lineMs: number): Promise<void> {
        for (let times = 0; times < 3; times += 1) for (const awayMs of [1, -1]) await check(lineMs + awayMs * MINUTE_MS);
      }

      test('a key limit alert fires once around the end of the window', async () => {
        await addRule('key_limit', 80n);
        const { id } = await owner.keys.create(owner.account.id, {
          name: 'ci',
          limitZone: 'Asia/Kolkata',
          budgets: { day: asNanos(100n) },
        });
        await spendOf(id, 90n);
        await check();
        const [key] = await owner.keys.list(owner.account.id);
        const endMs = key?.budgets[0]?.resetsAtMs ?? 0;
        await checkApart(endMs);
        expect(await sentTitles()).toEqual(['The key “ci” is at 80 % of its limit']);
        await check(endMs + 11 * MINUTE_MS);
        expect(await store.kysely.selectFrom('alert_states').selectAll().execute()).toEqual([]);
      });

      test('an expiry alert fires once, when the time comes and when the key expires', async () => {
        await addRule('key_expiring', 1n);
        const expiresAtMs = Date.now() + 2 * DAY_MS;
        await owner.keys.create(owner.account.id, { name: 'ci', expiresAtMs });
        await checkApart(expiresAtMs - DAY_MS);
        await checkApart(expiresAtMs);
        expect(await sentTitles()).toEqual(['The key “ci” expires soon']);
      });

      test('an error rate alert fires once when the failures leave the last hour', async () => {
        await addRule('error_rate', 10n);
        const quarterMs = Math.floor(Date.now() / 900_000) * 900_000;
        await use({ requests: 50, errors: 40, atMs: quarterMs });
        await check();
        await checkApart(quarterMs + 3_600_000);
        expect(await sentTitles()).toEqual(['80 % of requests are failing']);
      });
    });

    test('rules of one account do not affect another', async () => {
      await credit(10n * USD);
      const other = await Owner.at(store);
      await addRule('low_balance', 5n * USD);
      await check();
      expect(await sentTitles()).toEqual([]);
      expect(await rules.list(other.account.id)).toEqual([]);
      const [rule] = await rules.list(owner.account.id);
      expect(await rules.delete(other.account.id, rule?.id ?? '')).toBe(false);
      expect(await rules.update(other.account.id, rule?.id ?? '', { threshold: 1n, byMail: true, byWebhook: true })).toBeUndefined();
    });

    test('a closed account gets no more alerts, and the names of those who changed its keys are deleted', async () => {
      await addRule('low_balance', 5n * USD);
      await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/x');
      const { id, secret } = await owner.keys.create(owner.account.id, { name: 'mine', tags: ['me'] }, 'me@example.com');
      const uses = new KeyUses();
      uses.noteUse(hashSecret(secret), Date.now(), '203.0.113.9');
      await uses.write(store.kysely);
      await check();
      expect(await closeAccount(store.kysely, 'person_unknown', owner.account.id)).toBe('closed');
      await check();
      expect([await sentTitles(), await rules.list(owner.account.id), await findWebhook(store.kysely, owner.account.id)]).toEqual([
        [],
        [],
        undefined,
      ]);
      expect(await readAudit(store.kysely, id, 10)).toMatchObject([{ actor: 'deleted user', changes: [] }]);
      expect(await store.kysely.selectFrom('key_uses').selectAll().where('secret_hash', '=', hashSecret(secret)).execute()).toEqual([]);
    });
  });
