import { sql, type RawBuilder } from 'kysely';

/** One place where two values that must be equal differ. */
export interface Difference {
  readonly place: string;
  /** A number where PostgreSQL returns a small constant. */
  readonly difference: bigint | number;
}

/** What a rule looks at. */
export interface Scope {
  readonly accountIds: readonly string[] | undefined;
  /** Of requests, only those that began since then. Undefined means all of them. */
  readonly sinceMs: number | undefined;
  readonly nowMs: number;
  readonly longestRequestMs: number;
}

/** A ledger rule, or part of one: a query that returns one row per violation. */
export interface Check {
  /** The rule's number in docs/billing.md, which metrics use as a label, followed by what must hold. */
  readonly name: `R${number} ${string}`;
  readonly unit: 'usd' | 'rows';
  /** True when the rule can be checked for selected accounts alone. */
  readonly isPerAccount: boolean;
  /** True when an edit is brought to one account after another, so that they differ until it has reached them. */
  readonly isAligned?: true;
  statement(scope: Scope): RawBuilder<Difference>;
}

/** Limits a column to the accounts in scope. */
export function ofAccounts({ accountIds }: Scope, column: string): RawBuilder<unknown> {
  if (accountIds === undefined) return sql`1 = 1`;
  if (accountIds.length === 0) return sql`1 = 0`;
  return sql`${sql.ref(column)} IN (${sql.join([...accountIds])})`;
}
