import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * Tells servers whose accounts have changed, so that they forget only those. When every change meant all accounts, a service with a thousand
 * busy keys spent most of its time on looking them up again: two changes a second were enough.
 */
export async function changedAccounts(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, TABLE);
  if (dialect === 'postgres') await runStatements(database, dialect, [NOTE_CHANGE]);
  for (const [table, account] of Object.entries(ACCOUNT_OF)) await runStatements(database, dialect, triggersOf(table, account, dialect));
}

const TABLE = [
  // The counter of `changes` at the last change of an account. The empty id stands for all accounts.
  'CREATE TABLE changed_accounts (account_id TEXT NOT NULL PRIMARY KEY, counter INTEGER NOT NULL) STRICT',
  'CREATE INDEX changed_accounts_by_counter ON changed_accounts (counter, account_id)',
];

/** Whose account a row is about. A plan may have any number of subscribers. */
const ACCOUNT_OF: Readonly<Record<string, string>> = {
  accounts: 'changed.id',
  api_keys: 'changed.account_id',
  key_secrets: '(SELECT account_id FROM api_keys WHERE id = changed.key_id)',
  subscriptions: 'changed.account_id',
  plans: "''",
  content_logging: 'changed.account_id',
};

/**
 * Raises the counter first: its row stays locked until the transaction ends, so counters become visible in their order and none is missed.
 */
const NOTE_CHANGE = `CREATE FUNCTION note_change(accounts TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  raised BIGINT;
BEGIN
  IF cardinality(accounts) = 0 THEN RETURN; END IF;
  UPDATE changes SET counter = counter + 1 RETURNING counter INTO raised;
  INSERT INTO changed_accounts (account_id, counter) SELECT unnest(accounts), raised
  ON CONFLICT (account_id) DO UPDATE SET counter = excluded.counter;
END $$`;

/** Replaces the triggers that only raised the counter. */
function triggersOf(table: string, account: string, dialect: Dialect): string[] {
  const events = ['INSERT', 'UPDATE', 'DELETE'];
  if (dialect === 'postgres')
    return [
      `CREATE FUNCTION note_change_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM note_change(ARRAY(SELECT DISTINCT ${account} FROM changed));
        RETURN NULL;
      END $$`,
      `DROP TRIGGER ${table}_changed ON ${table}`,
      // For each statement: thousands of rows would write thousands of versions of the counter.
      ...events.map(
        (event) =>
          `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table}
          REFERENCING ${event === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_change_of_${table}()`,
      ),
    ];
  return events.flatMap((event) => {
    const name = `${table}_${event.toLowerCase()}`;
    const changed = account.replace('changed.', event === 'DELETE' ? 'OLD.' : 'NEW.');
    return [
      `DROP TRIGGER ${name}`,
      `CREATE TRIGGER ${name} AFTER ${event} ON ${table} BEGIN
        UPDATE changes SET counter = counter + 1;
        INSERT INTO changed_accounts (account_id, counter) SELECT ${changed}, counter FROM changes WHERE TRUE
        ON CONFLICT (account_id) DO UPDATE SET counter = excluded.counter;
      END`,
    ];
  });
}
