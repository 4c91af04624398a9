import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from './money.ts';

/** What the gate owes all accounts together, and how much of it is on hold right now. */
export interface Liability {
  /** The sum of all balances above zero. */
  readonly balance: Nanos;
  /** The sum of all debts. */
  readonly debts: Nanos;
  /** The remaining balances, by the kind of credit they came from. */
  readonly byKind: Readonly<Record<'paid' | 'plan' | 'promo' | 'manual', Nanos>>;
  readonly held: Nanos;
  readonly holds: number;
}

/** Reads wallets, remaining grants and open holds. The cost grows with the number of accounts, not with their activity. */
export async function readLiability(database: Kysely<Tables>): Promise<Liability> {
  const { rows: sums } = await sql<{ balance: bigint | null; debts: bigint | null; held: bigint | null }>`
    SELECT SUM(CASE WHEN credits_posted > debits_posted THEN credits_posted - debits_posted ELSE 0 END) AS balance,
      SUM(CASE WHEN credits_posted < debits_posted THEN debits_posted - credits_posted ELSE 0 END) AS debts,
      SUM(debits_pending) AS held FROM wallets`.execute(database);
  const grants = await database
    .selectFrom('grants')
    .select(({ fn }) => ['kind', fn.sum<bigint>('remaining').as('remaining')])
    .where('is_spent', '=', 0n)
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

/** Money that came in through payments, and money that went back. */
export interface MoneyInSums {
  readonly paid: Nanos;
  readonly returned: Nanos;
}

/** Sums the transfers of the clearing accounts. Each sum reads one range of an index. */
export async function readMoneyIn(
  database: Kysely<Tables>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<MoneyInSums> {
  const clearing = sql`('stripe_clearing', 'manual_clearing')`;
  const range = sql`created_at >= ${fromMs} AND created_at < ${toMs}`;
  // The condition on revenue lets the database use the index on credits.
  const { rows } = await sql<{ paid: bigint | null; returned: bigint | null }>`
    SELECT (SELECT SUM(amount) FROM transfers WHERE debit IN ${clearing} AND ${range}) AS paid,
      (SELECT SUM(amount) FROM transfers WHERE credit IN ${clearing} AND credit <> 'revenue' AND ${range}) AS returned`.execute(database);
  return { paid: asNanos(rows[0]?.paid ?? 0n), returned: asNanos(rows[0]?.returned ?? 0n) };
}
