import type { KeyUses } from './accounts/key-uses.ts';
import type { Carried } from './carried/carried.ts';
import type { Config } from './config.ts';
import type { OpenDatabase } from './database/connect.ts';
import { unflushed } from './database/unflushed.ts';
import { deleteTraces } from './dashboard/people/close.ts';
import { deleteOldAttempts } from './dashboard/rate-limits.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';
import { GatewayError } from './errors.ts';
import type { Call } from './gateway/call.ts';
import { idAt } from './ids.ts';
import { withTimeout } from './with-timeout.ts';
import { readAccountsOfOthers, readMovedAccounts } from './ledger/changed-accounts.ts';
import { NO_OLD_HOLD } from './ledger/checks.ts';
import type { ChangedAccounts, GroupCommitLedger } from './ledger/group-commit.ts';
import { abandonHoldsBefore } from './ledger/old-holds.ts';
import { PLACES_MAX, verifyLedger, type CheckResult } from './ledger/verify.ts';
import type { VerifyWork } from './ledger/verify-worker.ts';
import type { Log } from './observe/log.ts';
import type { Metrics } from './observe/metrics.ts';
import type { MoneyClock } from './payments/clock.ts';
import { startWorker } from './start-worker.ts';
import { every, type Clock } from './turns.ts';
import type { Contents } from './usage/contents.ts';
import type { Refusals } from './usage/refusals.ts';

/** Each recovery turn is a sign of life; a node counts as dead after 30 seconds without one. */
const RECOVER_INTERVAL_MS = 5000;
const HOLDS_MS_MAX = 2000;
/** How outdated the shown last uses of keys may be. */
const KEY_USES_INTERVAL_MS = 5000;
const PRUNE_INTERVAL_MS = 10 * MINUTE_MS;
const VERIFY_INTERVAL_MS = 5 * MINUTE_MS;
const VERIFY_MS_MAX = 60_000;
/** How far back money that moved is verified: twice, so that neither a late turn nor another node's clock leaves any out. */
const MOVED_MS = 2 * VERIFY_INTERVAL_MS;
/** How often low balances and due plans are checked. */
const MONEY_INTERVAL_MS = 5000;

/** Dependencies of housekeeping. */
export interface HousekeepingParts {
  readonly config: Config;
  /** Id of this process in the ledger. */
  readonly nodeId: string;
  readonly database: OpenDatabase;
  readonly ledger: GroupCommitLedger;
  readonly carried: Carried;
  readonly money: MoneyClock;
  readonly keyUses: KeyUses;
  readonly contents: Contents;
  readonly refusals: Refusals;
  /** The running requests. */
  readonly calls: ReadonlySet<Pick<Call, 'id'>>;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Settles the holds of dead processes before any request is admitted, then starts all periodic work. */
export async function startHousekeeping(parts: HousekeepingParts): Promise<Clock[]> {
  await recover(parts).catch(refuseToStart);
  const { ledger, money, carried, keyUses, contents, refusals, database, log } = parts;
  const clock = (intervalMs: number, failure: string, work: () => Promise<unknown>): Clock =>
    every(intervalMs, work, (error) => log.internalError(failure, error));
  return [
    clock(RECOVER_INTERVAL_MS, 'holds of dead processes could not be settled', () => recover(parts)),
    clock(MINUTE_MS, 'orphaned holds could not be handed to recovery', () => abandonOldHolds(parts)),
    clock(MINUTE_MS, 'expired credit could not be removed', () => ledger.expire(Date.now())),
    clock(MONEY_INTERVAL_MS, 'payments could not be followed up', () => money.followUp(Date.now())),
    clock(MONEY_INTERVAL_MS, 'automatic top-ups could not be made', () => money.topUp(Date.now())),
    clock(MONEY_INTERVAL_MS, 'plans could not be renewed', () => money.renew('balance', Date.now())),
    clock(MONEY_INTERVAL_MS, 'plans paid by card could not be renewed', () => money.renew('card', Date.now())),
    clock(MONEY_INTERVAL_MS, 'customers of closed accounts could not be deleted', () => money.forgetCustomers(Date.now())),
    clock(HOUR_MS, 'old payment events could not be deleted', () => money.prune(Date.now())),
    clock(PRUNE_INTERVAL_MS, 'old usage rows could not be deleted', () => prune(parts)),
    clock(PRUNE_INTERVAL_MS, 'old data kept for providers could not be deleted', () => carried.prune(Date.now())),
    clock(PRUNE_INTERVAL_MS, 'old sign-in attempts could not be deleted', () => deleteOldAttempts(database.kysely, Date.now())),
    clock(PRUNE_INTERVAL_MS, 'traces of closed accounts could not be deleted', () => deleteTraces(database.kysely, Date.now())),
    clock(KEY_USES_INTERVAL_MS, 'the last uses of keys could not be saved', () => unflushed(database, (one) => keyUses.write(one))),
    clock(MINUTE_MS, 'old prompts and answers could not be deleted', () => contents.prune(Date.now())),
    clock(MINUTE_MS, 'old refused requests could not be deleted', () => refusals.prune(oldestKept(parts))),
    clock(VERIFY_INTERVAL_MS, 'the ledger could not be verified', () => verifyChanged(parts)),
  ];
}

/** Fails the start with the database's own error, which helps the operator more than the message for callers. */
function refuseToStart(error: unknown): never {
  const reason = error instanceof GatewayError ? error.cause : error;
  throw new Error(`The ledger cannot be written: ${reason instanceof Error ? reason.message : String(reason)}.`, { cause: error });
}

/** Settles the holds of dead processes. Their accounts count as changed. */
export async function recover({ database, nodeId, ledger, log, metrics }: HousekeepingParts): Promise<void> {
  // Read before, because a settled hold is gone. Without the list, the holds are settled all the same: this is also the node's sign of life.
  const others = readAccountsOfOthers(database.kysely, nodeId);
  const accountIds = await withTimeout('The list of open holds', others, HOLDS_MS_MAX).catch((): string[] => []);
  const count = await ledger.recover();
  if (count === 0) return;
  ledger.markChanged({ accountIds, sinceMs: Date.now() });
  metrics.recovered(count);
  log.lifecycle('settled the holds of a dead process', { holds: count });
}

/** Hands holds that outlived their requests to recovery, since they lock up money of their accounts. Each one raises an alert. */
export async function abandonOldHolds({ config, nodeId, database, calls, log }: HousekeepingParts): Promise<void> {
  const running = new Set([...calls].map(({ id }) => id));
  const createdBeforeMs = Date.now() - longestRequest(config);
  const places = await abandonHoldsBefore(database.kysely, { nodeId, createdBeforeMs, isRunning: (id) => running.has(id) });
  if (places.length > 0) log.ledgerDiffers({ rule: NO_OLD_HOLD, difference: String(places.length), places: places.slice(0, PLACES_MAX) });
}

/** Drops usage rows older than the settings allow; transfers and roll-ups stay. */
async function prune(parts: HousekeepingParts): Promise<void> {
  const { ledger, log } = parts;
  const oldest = oldestKept(parts);
  const count = oldest === undefined ? 0 : await ledger.prune(oldest);
  if (count > 0) log.lifecycle('deleted old usage rows', { rows: count });
}

/** Returns the smallest request id to keep; undefined if all are kept. */
function oldestKept({ config: { usageDays } }: HousekeepingParts): string | undefined {
  return usageDays === undefined ? undefined : idAt('req', Date.now() - usageDays * DAY_MS);
}

/** Verifies the accounts that changed since the last verification, by whatever process. Any difference raises an alert. */
export async function verifyChanged({ config, database, ledger, log, metrics }: HousekeepingParts): Promise<void> {
  const nowMs = Date.now();
  const moved = await readMovedAccounts(database.kysely, nowMs - MOVED_MS);
  ledger.markChanged({ accountIds: moved, sinceMs: nowMs });
  const changed = ledger.takeChanged();
  if (changed.accountIds.length === 0) return;
  const checks = await verify(config, database, changed).catch((error: unknown) => {
    // Accounts that could not be verified are kept for the next turn.
    ledger.markChanged(changed);
    throw error;
  });
  metrics.verified(checks, Date.now());
  for (const { name, ok, difference, places } of checks) if (!ok) log.ledgerDiffers({ rule: name, difference, places });
  // A difference does not go away by itself: it is reported again until it is fixed.
  if (checks.some(({ ok }) => !ok)) ledger.markChanged(changed);
}

/** Verifies these accounts. With the embedded database a separate thread reads, because reading blocks there. */
async function verify(config: Config, database: OpenDatabase, changed: ChangedAccounts): Promise<CheckResult[]> {
  const longestRequestMs = longestRequest(config);
  // A request that was charged since then may have begun that much earlier.
  const options = { accountIds: changed.accountIds, sinceMs: changed.sinceMs - longestRequestMs, longestRequestMs };
  if (database.dialect === 'postgres') return verifyLedger(database.kysely, options);
  const worker = startWorker('ledger/verify-worker');
  try {
    const checks = new Promise<CheckResult[]>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<CheckResult[]>) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ ...options, databasePath: config.databasePath } satisfies VerifyWork);
    });
    return await withTimeout('The verification', checks, VERIFY_MS_MAX);
  } finally {
    worker.terminate();
  }
}

/** Returns the longest time a request can be open: the timeouts of all its routes, and a margin for writing its end. */
export function longestRequest({ timeouts, models }: Config): number {
  const routes = Math.max(1, ...models.map((model) => model.routes.length));
  return routes * Math.max(timeouts.totalMs, timeouts.answerMs) + VERIFY_INTERVAL_MS;
}
