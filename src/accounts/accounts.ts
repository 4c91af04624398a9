import type { Kysely, Selectable, Transaction } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { moneyId, postCredit, postDebit, type Posting } from '../ledger/credit.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { COMMAND_LINE, recordAudit, type FieldChange } from './audit.ts';
import { Invitations } from './invitations.ts';

/** Status of an account. A closed account was deleted by its owner: its money stays in the ledger, and it cannot be reopened. */
export type AccountStatus = 'active' | 'suspended' | 'closed';

/** An account: it owns keys and pays. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly status: AccountStatus;
  readonly isAdmin: boolean;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly createdAtMs: number;
}

/** The record of a manual credit. */
export interface CreditNote {
  readonly reason: string;
  readonly actor: string;
  readonly expiresAtMs?: number | undefined;
  /** Idempotency name: a repeated credit with the same name is posted once. */
  readonly name?: string | undefined;
}

/** Result of a manual credit: posted now, posted before, or refused because its name belongs to a different credit. */
export type CreditOutcome = 'posted' | 'repeated' | 'name_taken';

/** Who changes an account, and why. */
export interface ChangeNote {
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** Reads and changes accounts, and posts manual credit. */
export class Accounts {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Creates an account with an empty wallet. Returns undefined if the address is taken. */
  async create(email: string, isAdmin: boolean): Promise<Account | undefined> {
    const id = makeId('acct');
    const isCreated = await inTransaction(this.#database, async (transaction) => {
      const inserted = await transaction
        .insertInto('accounts')
        .values({ id, email, status: 'active', is_admin: isAdmin ? 1 : 0, created_at: Date.now() })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
      await transaction.insertInto('wallets').values({ account_id: id, credits_posted: 0, debits_posted: 0, debits_pending: 0 }).execute();
      return true;
    });
    return isCreated ? this.find(email) : undefined;
  }

  async find(email: string): Promise<Account | undefined> {
    return this.#read('email', email);
  }

  async findById(id: string): Promise<Account | undefined> {
    return this.#read('id', id);
  }

  /**
   * Adds manual credit, or takes it away if negative. Writes a transfer with a reason and an audit entry, and never overwrites a balance.
   */
  async credit(account: Account, amount: Nanos, { reason, actor, expiresAtMs, name }: CreditNote): Promise<CreditOutcome> {
    const id = makeId('cred');
    const source = `manual:${name ?? id}`;
    const posting = { accountId: account.id, house: 'promo_expense', source, reason, kind: 'manual' } as const;
    return inTransaction(this.#database, async (transaction) => {
      let outcome: CreditOutcome = 'posted';
      if (amount > 0n) outcome = await postCredit(transaction, { ...posting, amount, expiresAtMs });
      if (amount < 0n) outcome = await postDebit(transaction, { ...posting, amount: asNanos(NO_MONEY - amount) });
      if (outcome === 'repeated') return (await isPosted(transaction, posting, amount)) ? 'repeated' : 'name_taken';
      await transaction
        .insertInto('audit')
        .values({
          id,
          actor,
          action: 'credit',
          subject: account.id,
          detail: JSON.stringify({ nanos: String(amount), reason }),
          created_at: Date.now(),
        })
        .execute();
      return 'posted';
    });
  }

  /**
   * Suspends an account, so that all its requests are refused, or resumes it. Returns false if nothing changes, and for closed accounts.
   */
  async setStatus(
    account: Account,
    status: 'active' | 'suspended',
    { actor, reason }: ChangeNote = { actor: COMMAND_LINE },
  ): Promise<boolean> {
    return inTransaction(this.#database, async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('accounts')
        .set({ status })
        .where('id', '=', account.id)
        .where('status', '<>', status)
        .where('closed_at', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) return false;
      const isResumed = status === 'active';
      const changes = [
        { field: 'status', before: isResumed ? 'suspended' : 'active', after: status },
        ...(reason === undefined ? [] : [{ field: 'reason', before: null, after: reason }]),
      ];
      const action = isResumed ? 'account.resume' : 'account.suspend';
      await recordAudit(transaction, { actor, action, subject: account.id, changes });
      return true;
    });
  }

  /** Makes an account an operator, or takes the role away. The last operator keeps it. */
  async setOperator(account: Account, isAdmin: boolean, actor: string = COMMAND_LINE): Promise<'done' | 'last_operator'> {
    return inTransaction(this.#database, async (transaction) => {
      // This write locks all operators. If two operators remove each other, the second sees the first's change.
      await transaction
        .updateTable('accounts')
        .set((columns) => ({ is_admin: columns.ref('is_admin') }))
        .where('is_admin', '=', 1n)
        .execute();
      if (!isAdmin && (await isLastOperator(transaction, account.id))) return 'last_operator';
      const changes = isAdmin ? await addOperator(transaction, account.id) : await removeOperator(transaction, account.id);
      if (changes.length > 0) await recordAudit(transaction, { actor, action: 'account.operator', subject: account.id, changes });
      return 'done';
    });
  }

  /** Signs the owner of an account out everywhere. Returns how many sessions ended. */
  async endSessions(account: Account, actor: string = COMMAND_LINE): Promise<number> {
    return inTransaction(this.#database, async (transaction) => {
      const ended = await deleteSessions(transaction, account.id);
      const changes = [{ field: 'sessions', before: ended, after: 0 }];
      if (ended > 0) await recordAudit(transaction, { actor, action: 'account.end_sessions', subject: account.id, changes });
      return ended;
    });
  }

  /** Returns true if no account exists except the one with this address. */
  async hasNoneBut(email: string): Promise<boolean> {
    const row = await this.#database.selectFrom('accounts').select('id').where('email', '!=', email).limit(1).executeTakeFirst();
    return row === undefined;
  }

  async #read(column: 'email' | 'id', value: string): Promise<Account | undefined> {
    const row = await this.#database
      .selectFrom('accounts')
      .innerJoin('wallets', 'wallets.account_id', 'accounts.id')
      .selectAll('accounts')
      .select(['wallets.credits_posted', 'wallets.debits_posted', 'wallets.debits_pending'])
      .where(`accounts.${column}`, '=', value)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      id: row.id,
      email: row.email,
      status: accountStatus(row),
      isAdmin: row.is_admin === 1n,
      balance: asNanos(row.credits_posted - row.debits_posted),
      held: asNanos(row.debits_pending),
      createdAtMs: Number(row.created_at),
    };
  }
}

/** Returns true if the transfer posted from this source equals this one. */
async function isPosted(
  transaction: Kysely<Tables>,
  { accountId, house, source, reason }: Omit<Posting, 'amount'>,
  amount: Nanos,
): Promise<boolean> {
  const wallet = `wallet:${accountId}`;
  const [debit, credit] = amount > 0n ? [house, wallet] : [wallet, house];
  const found = await transaction.selectFrom('transfers').selectAll().where('id', '=', moneyId(source)).executeTakeFirst();
  const moved = amount > 0n ? amount : NO_MONEY - amount;
  return found?.debit === debit && found.credit === credit && found.amount === moved && found.ref === reason;
}

async function deleteSessions(transaction: Transaction<Tables>, accountId: string): Promise<number> {
  const { numDeletedRows } = await transaction
    .deleteFrom('sessions')
    .where('person_id', 'in', (where) => where.selectFrom('people').select('id').where('account_id', '=', accountId))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Gives the operator role. Sessions end, because somebody may have got hold of one when it opened less. */
async function addOperator(transaction: Transaction<Tables>, accountId: string): Promise<FieldChange[]> {
  const { numUpdatedRows } = await transaction
    .updateTable('accounts')
    .set({ is_admin: 1 })
    .where('id', '=', accountId)
    .where('is_admin', '=', 0n)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return [];
  const sessions = await deleteSessions(transaction, accountId);
  const added = { field: 'operator', before: false, after: true };
  return sessions === 0 ? [added] : [added, { field: 'sessions', before: sessions, after: 0 }];
}

/** Takes the operator role away, and all open links for operators: the person may have kept one. */
export async function removeOperator(transaction: Transaction<Tables>, accountId: string): Promise<FieldChange[]> {
  const { numUpdatedRows } = await transaction
    .updateTable('accounts')
    .set({ is_admin: 0 })
    .where('id', '=', accountId)
    .where('is_admin', '=', 1n)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return [];
  const links = await new Invitations(transaction).withdrawForOperators();
  const removed = { field: 'operator', before: true, after: false };
  return links === 0 ? [removed] : [removed, { field: 'operatorLinks', before: links, after: 0 }];
}

/** Returns true if this account is the only operator. */
export async function isLastOperator(transaction: Kysely<Tables>, accountId: string): Promise<boolean> {
  const operators = await transaction
    .selectFrom('accounts')
    .select('id')
    .where('is_admin', '=', 1n)
    .where('status', '=', 'active')
    .execute();
  return operators.length === 1 && operators[0]?.id === accountId;
}

/** Returns what an account can spend now. */
export function availableOf(account: Account): Nanos {
  const available = account.balance - account.held;
  return available > 0n ? asNanos(available) : NO_MONEY;
}

/** Returns the status of an account row. */
export function accountStatus({ status, closed_at }: Pick<Selectable<Tables['accounts']>, 'status' | 'closed_at'>): AccountStatus {
  return closed_at === null ? status : 'closed';
}
