import type { KeyUses } from './accounts/key-uses.ts';
import type { Carried } from './carried/carried.ts';
import type { Config } from './config.ts';
import type { OpenDatabase } from './database/connect.ts';
import { unflushed } from './database/unflushed.ts';
import { forgetTraces } from './dashboard/people/close.ts';
import { forgetOldTries } from './dashboard/rate-limits.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { GatewayError } from './errors.ts';
import type { Call } from './gateway/gate.ts';
import { idAt } from './ids.ts';
import { inTime } from './in-time.ts';
import { NO_OLD_HOLD } from './ledger/checks.ts';
import type { GroupCommitLedger } from './ledger/group-commit.ts';
import { giveUpOldHolds } from './ledger/old-holds.ts';
import { verifyLedger, type CheckResult } from './ledger/verify.ts';
import type { VerifyWork } from './ledger/verify-worker.ts';
import type { Log } from './observe/log.ts';
import type { Metrics } from './observe/metrics.ts';
import type { MoneyClock } from './payments/clock.ts';
import { startWorker } from './start-worker.ts';
import { every, type Clock } from './turns.ts';
import type { Contents } from './usage/contents.ts';
import type { Refusals } from './usage/refusals.ts';

/** A node counts as dead after 30 seconds without a sign of life, which each of these turns is. */
const RECOVER_INTERVAL_MS = 5000;
/** How old the list of keys may be about their last use. */
const KEY_USES_INTERVAL_MS = 5000;
const PRUNE_INTERVAL_MS = 10 * MINUTE_MS;
const VERIFY_INTERVAL_MS = 5 * MINUTE_MS;
const VERIFY_MS_MAX = 60_000;
/** How soon a low balance is topped up, and a plan renewed. */
const MONEY_INTERVAL_MS = 5000;
const PLACES_MAX = 10;

/** What the work is done with. */
export interface House {
  readonly config: Config;
  /** The name of this process in the ledger. */
  readonly nodeId: string;
  readonly database: OpenDatabase;
  readonly ledger: GroupCommitLedger;
  readonly carried: Carried;
  readonly money: MoneyClock;
  readonly keyUses: KeyUses;
  readonly contents: Contents;
  readonly refusals: Refusals;
  /** The requests under way. */
  readonly calls: ReadonlySet<Pick<Call, 'id'>>;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Settles what a crash left open before any work is taken, and from then on looks after the ledger. */
export async function keepHouse(house: House): Promise<Clock[]> {
  await recover(house).catch(refuseToStart);
  const { ledger, money, carried, keyUses, contents, refusals, database, log } = house;
  const clock = (intervalMs: number, failure: string, work: () => Promise<unknown>): Clock =>
    every(intervalMs, work, (error) => log.internalError(failure, error));
  return [
    clock(RECOVER_INTERVAL_MS, 'holds of dead processes could not be settled', () => recover(house)),
    clock(MINUTE_MS, 'orphaned holds could not be handed to recovery', () => giveUpHolds(house)),
    clock(MINUTE_MS, 'expired credit could not be taken back', () => ledger.expire(Date.now())),
    clock(MONEY_INTERVAL_MS, 'payments and plans could not be updated', () => money.turn(Date.now())),
    clock(PRUNE_INTERVAL_MS, 'old usage rows could not be dropped', () => prune(house)),
    clock(PRUNE_INTERVAL_MS, 'data kept for providers could not be dropped', () => carried.prune(Date.now())),
    clock(PRUNE_INTERVAL_MS, 'old sign-in attempts could not be dropped', () => forgetOldTries(database.kysely, Date.now())),
    clock(PRUNE_INTERVAL_MS, 'traces of closed accounts could not be deleted', () => forgetTraces(database.kysely, Date.now())),
    clock(KEY_USES_INTERVAL_MS, 'the last uses of keys could not be saved', () => unflushed(database, (one) => keyUses.write(one))),
    clock(MINUTE_MS, 'old prompts and answers could not be deleted', () => contents.prune(Date.now())),
    clock(MINUTE_MS, 'old refused requests could not be dropped', () => refusals.prune(oldestKept(house))),
    clock(VERIFY_INTERVAL_MS, 'the ledger could not be verified', () => verifyChanged(house)),
  ];
}

/** What callers are told of it does not help whoever starts the server: what the database said does. */
function refuseToStart(error: unknown): never {
  const reason = error instanceof GatewayError ? error.cause : error;
  throw new Error(`The ledger cannot be written: ${reason instanceof Error ? reason.message : String(reason)}.`, { cause: error });
}

async function recover({ ledger, log, metrics }: House): Promise<void> {
  const count = await ledger.recover();
  if (count === 0) return;
  metrics.recovered(count);
  log.lifecycle('settled the holds of a dead process', { holds: count });
}

/** A hold that outlives its request keeps money from its account. It is settled by the next recovery; that it was there is an alarm. */
export async function giveUpHolds({ config, nodeId, database, calls, log }: House): Promise<void> {
  const running = new Set([...calls].map(({ id }) => id));
  const createdBeforeMs = Date.now() - longestRequest(config);
  const places = await giveUpOldHolds(database.kysely, { nodeId, createdBeforeMs, isRunning: (id) => running.has(id) });
  if (places.length > 0) log.ledgerDiffers({ rule: NO_OLD_HOLD, difference: String(places.length), places: places.slice(0, PLACES_MAX) });
}

/** Usage rows are kept for as long as the settings say; transfers and roll-ups stay. */
async function prune(house: House): Promise<void> {
  const { ledger, log } = house;
  const oldest = oldestKept(house);
  const count = oldest === undefined ? 0 : await ledger.prune(oldest);
  if (count > 0) log.lifecycle('dropped old usage rows', { rows: count });
}

/** Requests with smaller ids are too old to be kept; undefined where all are. */
function oldestKept({ config: { usageDays } }: House): string | undefined {
  return usageDays === undefined ? undefined : idAt('req', Date.now() - usageDays * DAY_MS);
}

/** Verifies the accounts that changed since the last time. Any difference is an alarm. */
export async function verifyChanged({ config, database, ledger, log, metrics }: House): Promise<void> {
  const accountIds = ledger.takeChanged();
  if (accountIds.length === 0) return;
  const checks = await verify(config, database, accountIds).catch((error: unknown) => {
    // What could not be verified now is not forgotten.
    ledger.markChanged(accountIds);
    throw error;
  });
  metrics.verified(checks, Date.now());
  for (const { name, ok, difference, places } of checks) if (!ok) log.ledgerDiffers({ rule: name, difference, places });
  // A difference does not go away by itself: it is told again until it is mended.
  if (checks.some(({ ok }) => !ok)) ledger.markChanged(accountIds);
}

/** On the embedded database a thread of its own reads, because reading blocks there. */
async function verify(config: Config, database: OpenDatabase, accountIds: readonly string[]): Promise<CheckResult[]> {
  const longestRequestMs = longestRequest(config);
  if (database.dialect === 'postgres') return verifyLedger(database.kysely, { accountIds, longestRequestMs });
  const worker = startWorker('ledger/verify-worker');
  try {
    const checks = new Promise<CheckResult[]>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<CheckResult[]>) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ databasePath: config.databasePath, accountIds, longestRequestMs } satisfies VerifyWork);
    });
    return await inTime('The verification', checks, VERIFY_MS_MAX);
  } finally {
    worker.terminate();
  }
}

/** No request is open for longer than the time-outs of all its routes, and a margin for its end to be written. */
export function longestRequest({ timeouts, models }: Config): number {
  const routes = Math.max(1, ...models.map((model) => model.routes.length));
  return routes * Math.max(timeouts.totalMs, timeouts.answerMs) + VERIFY_INTERVAL_MS;
}
