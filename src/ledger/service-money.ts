import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from './money.ts';

/** What is owed to all accounts together, and what of it is set aside at this moment. */
export interface Liability {
  /** The sum of all balances above zero. */
  readonly balance: Nanos;
  /** What accounts owe whose balance is below zero. */
  readonly debts: Nanos;
  /** Where what is left of the balances came from. */
  readonly byKind: Readonly<Record<'paid' | 'plan' | 'promo' | 'manual', Nanos>>;
  readonly held: Nanos;
  readonly holds: number;
}

/** Reads wallets, what is left of grants, and open holds: as many rows as there are accounts, whatever they did. */
export async function readLiability(database: Kysely<Tables>): Promise<Liability> {
  const { rows: sums } = await sql<{ balance: bigint | null; debts: bigint | null; held: bigint | null }>`
    SELECT SUM(CASE WHEN credits_posted > debits_posted THEN credits_posted - debits_posted ELSE 0 END) AS balance,
      SUM(CASE WHEN credits_posted < debits_posted THEN debits_posted - credits_posted ELSE 0 END) AS debts,
      SUM(debits_pending) AS held FROM wallets`.execute(database);
  const grants = await database
    .selectFrom('grants')
    .select(({ fn }) => ['kind', fn.sum<bigint>('remaining').as('remaining')])
    .where('remaining', '>', 0n)
    .groupBy('kind')
    .execute();
  const holds = await database
    .selectFrom('holds')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const left = (kind: string): Nanos => asNanos(grants.find((grant) => grant.kind === kind)?.remaining ?? 0n);
  return {
    balance: asNanos(sums[0]?.balance ?? 0n),
    debts: asNanos(sums[0]?.debts ?? 0n),
    byKind: { paid: left('paid'), plan: left('plan'), promo: left('promo'), manual: left('manual') },
    held: asNanos(sums[0]?.held ?? 0n),
    holds: Number(holds.count),
  };
}

/** Money that came in by payments, and that went back. */
export interface MoneyIn {
  readonly paid: Nanos;
  readonly returned: Nanos;
}

/** Adds up the movements of the accounts that payments go through. Each is one range of an index. */
export async function readMoneyIn(
  database: Kysely<Tables>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<MoneyIn> {
  const clearing = sql`('stripe_clearing', 'manual_clearing')`;
  const range = sql`created_at >= ${fromMs} AND created_at < ${toMs}`;
  // The condition on revenue is what lets the index of credits be used.
  const { rows } = await sql<{ paid: bigint | null; returned: bigint | null }>`
    SELECT (SELECT SUM(amount) FROM transfers WHERE debit IN ${clearing} AND ${range}) AS paid,
      (SELECT SUM(amount) FROM transfers WHERE credit IN ${clearing} AND credit <> 'revenue' AND ${range}) AS returned`.execute(database);
  return { paid: asNanos(rows[0]?.paid ?? 0n), returned: asNanos(rows[0]?.returned ?? 0n) };
}
