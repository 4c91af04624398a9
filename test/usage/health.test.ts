import { expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';
import { makeId } from '../../src/ids.ts';
import { measureHealth, SLOT_MS } from '../../src/usage/health.ts';
import { eachStore } from '../database/each-store.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');
const HOUR_MS = 3_600_000;

eachStore((database) => {
  test('models and providers are measured from the requests in the span', async () => {
    for (let ms = 1; ms <= 100; ms += 1)
      await record(database().kysely, { model: 'a/one', provider: 'a', firstTokenMs: ms, agoMs: HOUR_MS });
    await record(database().kysely, { model: 'a/one', provider: 'a', outcome: 'failed', errorCode: 'provider_error', agoMs: HOUR_MS });
    await record(database().kysely, { model: 'a/one', provider: 'a', outcome: 'client_gone', agoMs: HOUR_MS });
    for (const errorCode of ['provider_refused', 'request_too_large', 'array_above_max_length', 'too_many_concurrent_requests']) {
      await record(database().kysely, { model: 'a/one', provider: 'a', outcome: 'failed', errorCode, agoMs: HOUR_MS });
    }
    await record(database().kysely, { model: 'a/one', provider: 'a', agoMs: 30 * HOUR_MS });
    await record(database().kysely, { model: 'b/two', provider: 'b', agoMs: 0, failedBefore: 'a' });
    const health = await measureHealth(database().kysely, { fromMs: NOW_MS - 24 * HOUR_MS, toMs: NOW_MS + 1000 });

    expect(health.models.get('a/one')).toEqual({ requests: 101, succeeded: 100, firstTokenP50Ms: 50, firstTokenP95Ms: 95 });
    expect(health.models.get('b/two')).toEqual({ requests: 1, succeeded: 1, firstTokenP50Ms: undefined, firstTokenP95Ms: undefined });
    expect(health.all.requests).toBe(102);
    expect(health.providers.get('a')).toMatchObject({ requests: 102, succeeded: 100 });
    expect(health.providers.get('a')?.slots).toEqual([
      { startMs: NOW_MS - HOUR_MS, succeeded: 100, failed: 1 },
      { startMs: NOW_MS - (NOW_MS % SLOT_MS), succeeded: 0, failed: 1 },
    ]);
    expect(health.models.has('c/three')).toBe(false);
  });
});

interface Recorded {
  readonly model: string;
  readonly provider: string;
  readonly agoMs: number;
  readonly outcome?: string;
  readonly errorCode?: string;
  readonly firstTokenMs?: number;
  readonly failedBefore?: string;
}

async function record(
  kysely: Kysely<Tables>,
  { model, provider, agoMs, outcome = 'completed', errorCode, firstTokenMs, failedBefore }: Recorded,
): Promise<void> {
  const createdAtMs = NOW_MS - agoMs;
  const requestId = makeId('req', createdAtMs);
  await kysely
    .insertInto('usage')
    .values({
      request_id: requestId,
      account_id: 'acct_1',
      key_id: 'key_1',
      model,
      provider,
      created_at: createdAtMs,
      input_tokens: 1,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 1,
      reasoning_tokens: 0,
      is_estimated: 0,
      price_version: 1,
      cost: 1,
      held: 1,
      outcome,
      duration_ms: 5,
      attempts: 1,
      is_streaming: 1,
      first_token_ms: firstTokenMs ?? null,
      finish_reason: null,
      error_code: errorCode ?? null,
      served_model: '',
    })
    .execute();
  if (failedBefore !== undefined)
    await kysely
      .insertInto('attempts')
      .values({ request_id: requestId, n: 1, provider: failedBefore, outcome: 'provider_timeout', duration_ms: 5 })
      .execute();
}
