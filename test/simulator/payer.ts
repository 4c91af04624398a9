import type { Kysely } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import type { KeySettings } from '../../src/accounts/key-settings.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { connect, type DatabasePlace } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { parseNanos } from './invoice.ts';

/** An account with credit, and its key. */
export interface Payer {
  readonly id: string;
  readonly secret: string;
  readonly accountId: string;
  readonly email: string;
}

type Work<Result> = (database: Kysely<Tables>) => Promise<Result>;

/**
 * Works on the embedded database of a running gateway, as a command does, but without starting a process. One piece of
 * work at a time: waiting for the lock blocks this process, so other work in it could never release the lock.
 */
export function openTurns(place: DatabasePlace): <Result>(work: Work<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(() => useDatabase(place, work));
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Works on a connection that is closed before this returns. */
export async function useDatabase<Result>(place: DatabasePlace, work: Work<Result>): Promise<Result> {
  const { kysely } = await connect(place);
  try {
    return await work(kysely);
  } finally {
    await kysely.destroy();
  }
}

/** Creates an account with credit and a key. */
export async function makePayer(database: Kysely<Tables>, creditUsd: string, settings: Partial<KeySettings> = {}): Promise<Payer> {
  const accounts = new Accounts(database);
  const email = `${crypto.randomUUID()}@example.com`;
  const account = await accounts.create(email, false);
  if (account === undefined) throw new Error('the account could not be made');
  const amount = asNanos(parseNanos(creditUsd));
  if (amount > 0n) await accounts.credit(account, amount, { reason: 'test', actor: 'test' });
  return { ...(await addKey(database, account.id, settings)), email };
}

/** Creates another key for the account. */
export async function addKey(
  database: Kysely<Tables>,
  accountId: string,
  settings: Partial<KeySettings> = {},
): Promise<Omit<Payer, 'email'>> {
  const { id, secret } = await new Keys(database).create(accountId, { name: 'test', ...settings });
  return { id, secret, accountId };
}
