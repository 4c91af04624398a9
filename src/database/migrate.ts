import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import type { Dialect } from './dialect.ts';
import { initial } from './migrations/001-initial.ts';
import { ledger } from './migrations/002-ledger.ts';
import { carried } from './migrations/003-carried.ts';
import { usageDetail } from './migrations/004-usage-detail.ts';
import { people } from './migrations/005-people.ts';
import { moneyIn } from './migrations/006-money-in.ts';
import { keyRules } from './migrations/007-key-rules.ts';
import { requestContents } from './migrations/008-request-contents.ts';
import { alerts } from './migrations/009-alerts.ts';
import { planUse } from './migrations/010-plan-use.ts';
import { pastSums } from './migrations/011-past-sums.ts';
import { trialSecrets } from './migrations/012-trial-secrets.ts';
import { paceAndEndUsers } from './migrations/013-pace-and-end-users.ts';
import { linkedAccounts } from './migrations/014-linked-accounts.ts';
import { exportsAndPairs } from './migrations/015-exports-and-pairs.ts';
import { creditParts } from './migrations/016-credit-parts.ts';
import { exportsAndLinks } from './migrations/017-exports-and-links.ts';
import { auditByTime } from './migrations/018-audit-by-time.ts';
import { accountPast } from './migrations/019-account-past.ts';
import { operatorLists } from './migrations/020-operator-lists.ts';
import { paymentsByTime } from './migrations/021-payments-by-time.ts';
import { disabledProviders } from './migrations/022-disabled-providers.ts';
import { refusals } from './migrations/023-refusals.ts';
import { firstMidnight } from './migrations/024-first-midnight.ts';
import { contentsByAccount } from './migrations/025-contents-by-account.ts';
import { creditInOrder } from './migrations/026-credit-in-order.ts';
import { spentCredit } from './migrations/027-spent-credit.ts';
import { walletsById } from './migrations/028-wallets-by-id.ts';
import { listsInOrder } from './migrations/029-lists-in-order.ts';
import { closedAccounts } from './migrations/030-closed-accounts.ts';
import { walletsOnceABatch } from './migrations/031-wallets-once-a-batch.ts';
import { changedAccounts } from './migrations/032-changed-accounts.ts';
import { stuckHolds } from './migrations/033-stuck-holds.ts';
import { takenCredit } from './migrations/034-taken-credit.ts';
import { sessionFactors } from './migrations/035-session-factors.ts';
import { hashedSessionTokens } from './migrations/036-hashed-session-tokens.ts';
import { requireOwnConnections } from './own-connections.ts';
import type { Tables } from './tables.ts';

/** In the order they run. Never changed once released. */
const MIGRATIONS = {
  '001-initial': initial,
  '002-ledger': ledger,
  '003-carried': carried,
  '004-usage-detail': usageDetail,
  '005-people': people,
  '006-money-in': moneyIn,
  '007-key-rules': keyRules,
  '008-request-contents': requestContents,
  '009-alerts': alerts,
  '010-plan-use': planUse,
  '011-past-sums': pastSums,
  '012-trial-secrets': trialSecrets,
  '013-pace-and-end-users': paceAndEndUsers,
  '014-linked-accounts': linkedAccounts,
  '015-exports-and-pairs': exportsAndPairs,
  '016-credit-parts': creditParts,
  '017-exports-and-links': exportsAndLinks,
  '018-audit-by-time': auditByTime,
  '019-account-past': accountPast,
  '020-operator-lists': operatorLists,
  '021-payments-by-time': paymentsByTime,
  '022-disabled-providers': disabledProviders,
  '023-refusals': refusals,
  '024-first-midnight': firstMidnight,
  '025-contents-by-account': contentsByAccount,
  '026-credit-in-order': creditInOrder,
  '027-spent-credit': spentCredit,
  '028-wallets-by-id': walletsById,
  '029-lists-in-order': listsInOrder,
  '030-closed-accounts': closedAccounts,
  '031-wallets-once-a-batch': walletsOnceABatch,
  '032-changed-accounts': changedAccounts,
  '033-stuck-holds': stuckHolds,
  '034-taken-credit': takenCredit,
  '035-session-factors': sessionFactors,
  '036-hashed-session-tokens': hashedSessionTokens,
} as const;

/** The names of all migrations, oldest first. */
export const MIGRATION_NAMES: readonly string[] = Object.keys(MIGRATIONS);

/** Two processes that start together may both try. The later one then finds the work done. */
const TRIES_MAX = 3;
const RETRY_MS = 200;

/** Brings the schema up to date, forward only; returns the names of the migrations it ran. */
export async function migrate(database: Kysely<Tables>, dialect: Dialect, target?: keyof typeof MIGRATIONS): Promise<string[]> {
  if ((await pendingMigrations(database, dialect)).length === 0) return [];
  if (dialect === 'postgres') await requireOwnConnections(database);
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrationsFor(dialect) },
    // Kysely orders migrations by the clock of the machine that ran them, which may have been wrong.
    allowUnorderedMigrations: true,
  });
  for (let tries = 1; ; tries += 1) {
    const { error, results = [] } = await (target === undefined ? migrator.migrateToLatest() : migrator.migrateTo(target));
    if (error === undefined) return results.map((result) => result.migrationName);
    if (tries === TRIES_MAX) throw new Error(`The database schema could not be brought up to date: ${reasonOf(error)}`, { cause: error });
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * Makes sure that the schema matches this program. The embedded database belongs to this program alone and is migrated at once.
 * On PostgreSQL other nodes may still run an older program, so the operator must decide when.
 */
export async function prepareSchema(database: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (dialect === 'sqlite') return void (await migrate(database, dialect));
  const pending = await pendingMigrations(database, dialect);
  await requireOwnConnections(database);
  if (pending.length > 0)
    throw new Error(`The database schema lacks ${pending.join(', ')}. Bring it up to date, once for all nodes, with: tollgate migrate`);
}

/** Returns the migrations that are still to run. */
export async function pendingMigrations(database: Kysely<Tables>, dialect: Dialect): Promise<readonly string[]> {
  const done = await executedMigrations(database, dialect);
  refuseNewer(done);
  return MIGRATION_NAMES.filter((name) => !done.includes(name));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The migrator runs them in one transaction together with its own records, so nothing is ever half done. */
function migrationsFor(dialect: Dialect): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, run]) => [name, { up: (database: Kysely<unknown>) => run(database, dialect) }]),
  );
}

function refuseNewer(done: readonly string[]): void {
  const unknown = done.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0)
    throw new Error(
      `The database was created by a newer Tollgate: it has ${unknown.join(', ')}, which this program does not know. Start the newer program, or restore a backup from before the upgrade.`,
    );
}

async function executedMigrations(database: Kysely<Tables>, dialect: Dialect): Promise<string[]> {
  const catalog =
    dialect === 'sqlite'
      ? sql`SELECT name FROM sqlite_master WHERE name = 'kysely_migration'`
      : sql`SELECT 1 WHERE to_regclass('kysely_migration') IS NOT NULL`;
  const found = await catalog.execute(database).catch((error: unknown) => {
    if (dialect === 'sqlite') throw error;
    // This is the first query sent to PostgreSQL, and the driver's own message does not say what it is about.
    throw new Error(`PostgreSQL cannot be used: ${reasonOf(error)}. Check the address and the user in DATABASE_URL.`, { cause: error });
  });
  if (found.rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(database);
  return rows.map((row) => row.name);
}
