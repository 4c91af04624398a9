import { sql, type Kysely } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import { gridFrom, gridName, HOURS, readGrid, UTC_DAYS, type Grid } from './grid.ts';
import { advanceHistory } from './history.ts';
import { advanceService, WHOLE_SERVICE } from './service-history.ts';
import { runEach } from '../run-each.ts';
import { every, yieldToOthers } from '../turns.ts';
import { isZone } from '../zone-clock.ts';
import { startOf, type Span } from './zone.ts';

/** New hours to sum come slowly. */
const AGAIN_MS = 15 * MINUTE_MS;
const REMEMBERED_MAX = 10_000;
/** Days of a time zone are summed for this long after someone last looked at them, for at most `GRIDS_MAX` grids. */
const WANTED_DAYS = 60;
const GRIDS_MAX = 12;
/** How many accounts one statement looks at: pages wait for it. */
const ACCOUNTS_PER_STEP = 1000;
/** An account takes dozens of statements. Those to PostgreSQL are waited for; with the embedded database they keep the thread busy. */
const ACCOUNTS_AT_ONCE = { sqlite: 1, postgres: 3 } as const;

/**
 * Sums the history of single accounts and of the whole service in the background: at once for reports that are being viewed, periodically
 * for the rest.
 */
export class HistoryKeeper {
  readonly #database: OpenDatabase;
  readonly #fail: (event: string, error: unknown) => void;
  readonly #touchedMs = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(database: OpenDatabase, fail: (event: string, error: unknown) => void) {
    this.#database = database;
    this.#fail = fail;
  }

  /** Called when someone views an account's reports, cut into these spans. */
  touch(accountId: string, spans: readonly Span[]): void {
    if (this.#isStopped) return;
    const nowMs = Date.now();
    const names = new Set([gridName(HOURS), ...spans.flatMap(gridOf).map(gridName)]);
    const fresh = [...names].filter((name) => this.#isFresh(`${accountId} ${name}`, nowMs)).map(readGrid);
    if (fresh.length === 0) return;
    void this.#guard(async () => {
      await want(this.#database.kysely, { accountId, grids: fresh, nowMs });
      await this.#advanceAccount(accountId);
    });
  }

  /** Goes through all accounts once. */
  async sweep(): Promise<void> {
    await this.#guard(async () => {
      if (await hasOperators(this.#database.kysely)) await this.#advanceOwn(WHOLE_SERVICE);
      for (let after = ''; !this.#isStopped;) {
        const last = await findStepEnd(this.#database.kysely, after);
        const behind = await findBehind(this.#database.kysely, after, last);
        await runEach(behind, (accountId) => this.#advanceOwn(accountId), ACCOUNTS_AT_ONCE[this.#database.dialect]);
        if (last === undefined) return;
        after = last;
        await yieldToOthers();
      }
    });
  }

  /** Starts nothing new and waits for work in progress. The rest is summed another time. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  #isFresh(name: string, nowMs: number): boolean {
    if (nowMs - (this.#touchedMs.get(name) ?? 0) < AGAIN_MS) return false;
    if (this.#touchedMs.size >= REMEMBERED_MAX) this.#touchedMs.clear();
    this.#touchedMs.set(name, nowMs);
    return true;
  }

  async #advanceOwn(accountId: string): Promise<void> {
    if (this.#isStopped) return;
    await unflushed(this.#database, (connection) => wantOwnDays(connection, accountId));
    await this.#advanceAccount(accountId);
  }

  async #advanceAccount(accountId: string): Promise<void> {
    const nowMs = Date.now();
    const advance = accountId === WHOLE_SERVICE ? advanceService : advanceHistory;
    for (const grid of await readWanted(this.#database.kysely, accountId, nowMs))
      while (!this.#isStopped && (await takeTurns(() => advance(this.#database, { accountId, grid, nowMs }))) === 'behind');
  }

  #guard(work: () => Promise<void>): Promise<void> {
    const guarded = work()
      .catch((error: unknown) => this.#fail('usage history could not be summed', error))
      .finally(() => this.#running.delete(guarded));
    this.#running.add(guarded);
    return guarded;
  }
}

/** Does a step, and rests as long as it took: other writers and pages have at least every other moment, and each step is short. */
async function takeTurns<Result>(step: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  const result = await step();
  await new Promise((resolve) => setTimeout(resolve, performance.now() - startMs).unref());
  return result;
}

/** Returns whether there is anyone who could view reports. */
export async function hasReaders(database: Kysely<Tables>): Promise<boolean> {
  return (await database.selectFrom('people').select('id').where('account_id', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
}

/** Sums the history of all accounts now and periodically, for as long as the thread lives. */
export function startHistoryClock(keeper: HistoryKeeper): { stop(): Promise<void> } {
  // The keeper has already reported failures.
  const clock = every(
    AGAIN_MS,
    () => keeper.sweep(),
    () => undefined,
  );
  clock.run();
  return { stop: async () => void (await Promise.all([clock.stop(), keeper.stop()])) };
}

/** Returns the grid on which a span consists of whole hours or days. */
function gridOf({ fromMs, toMs }: Span): Grid[] {
  if (toMs - fromMs >= UTC_DAYS.lengthMs) return [gridFrom('day', fromMs)];
  return toMs - fromMs >= HOURS.lengthMs ? [gridFrom('hour', fromMs)] : [];
}

/** Returns the last account of the step after this one; undefined if all that are left make one step. */
async function findStepEnd(database: Kysely<Tables>, after: string): Promise<string | undefined> {
  const accounts = database.selectFrom('accounts').select('id').where('id', '>', after).orderBy('id');
  const row = await accounts
    .offset(ACCOUNTS_PER_STEP - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Returns the accounts of a step with usage after the end of their sums, or with sums of the future. Some of the usage may be too recent to
 * sum.
 */
async function findBehind(database: Kysely<Tables>, after: string, last: string | undefined): Promise<string[]> {
  const isInStep = last === undefined ? sql`id > ${after}` : sql`id > ${after} AND id <= ${last}`;
  const { rows } = await sql<{ id: string }>`SELECT id FROM accounts WHERE ${isInStep} AND (EXISTS (
      SELECT 1 FROM usage_rollups WHERE usage_rollups.account_id = accounts.id AND quarter_hour >= (
        SELECT COALESCE(MIN(until), 0) FROM usage_past_until WHERE usage_past_until.account_id = accounts.id))
      OR EXISTS (SELECT 1 FROM usage_past_until WHERE usage_past_until.account_id = accounts.id AND until > ${Date.now()}))
    ORDER BY id`.execute(database);
  return rows.map(({ id }) => id);
}

/** Returns whether there is anyone who could view the whole service. */
async function hasOperators(database: Kysely<Tables>): Promise<boolean> {
  return (await database.selectFrom('accounts').select('id').where('is_admin', '=', 1n).limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Requests sums for the days of all zones that an account's people (or, for the whole service, the operators) have chosen, in summer and
 * winter time, before anyone looks.
 */
async function wantOwnDays(database: Kysely<Tables>, accountId: string): Promise<void> {
  const nowMs = Date.now();
  const people = database.selectFrom('people').innerJoin('accounts', 'accounts.id', 'people.account_id').select('people.zone').distinct();
  const mine = accountId === WHOLE_SERVICE ? people.where('is_admin', '=', 1n) : people.where('people.account_id', '=', accountId);
  const rows = await mine.execute();
  const zones = rows.flatMap(({ zone }) => (zone !== null && isZone(zone) ? [zone] : []));
  const grids = zones.flatMap((zone) => [nowMs, nowMs - 182 * DAY_MS].map((atMs) => gridFrom('day', startOf('day', atMs, zone))));
  await want(database, { accountId, grids, nowMs });
}

interface Wanted {
  readonly accountId: string;
  readonly grids: readonly Grid[];
  readonly nowMs: number;
}

/** Records that reports need sums on these grids. */
async function want(database: Kysely<Tables>, { accountId, grids, nowMs }: Wanted): Promise<void> {
  const rows = await readRecorded(database, accountId);
  const recorded = new Map(rows.map(({ grid, asked_at: askedAt }) => [grid, Number(askedAt)]));
  let room = GRIDS_MAX - rows.filter((row) => isWanted(row, nowMs)).length;
  for (const grid of new Set(grids.map(gridName))) {
    const askedAtMs = recorded.get(grid);
    if (askedAtMs !== undefined && askedAtMs > nowMs - DAY_MS) continue;
    if (askedAtMs === undefined && room-- <= 0) continue;
    await database
      .insertInto('usage_past_until')
      .values({ account_id: accountId, grid, until: 0, asked_at: nowMs })
      .onConflict((conflict) => conflict.columns(['account_id', 'grid']).doUpdateSet({ asked_at: nowMs }))
      .execute();
  }
}

async function readWanted(database: Kysely<Tables>, accountId: string, nowMs: number): Promise<Grid[]> {
  const rows = await readRecorded(database, accountId);
  const names = rows.filter((row) => isWanted(row, nowMs)).map(({ grid }) => grid);
  return [...new Set([gridName(HOURS), gridName(UTC_DAYS), ...names])].map(readGrid);
}

interface RecordedGrid {
  readonly grid: string;
  readonly asked_at: bigint;
}

function readRecorded(database: Kysely<Tables>, accountId: string): Promise<RecordedGrid[]> {
  return database.selectFrom('usage_past_until').select(['grid', 'asked_at']).where('account_id', '=', accountId).execute();
}

function isWanted({ asked_at: askedAt }: RecordedGrid, nowMs: number): boolean {
  return Number(askedAt) > nowMs - WANTED_DAYS * DAY_MS;
}
