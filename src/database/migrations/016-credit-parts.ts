import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';
import { CREDIT_PART_FUNCTIONS } from './016-credit-parts-postgres.ts';

/** How much of a request's cost was paid from a plan, and from promotions. Null where nothing was, and for requests of before. */
export async function creditParts(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
  if (dialect === 'postgres') await runStatements(database, dialect, CREDIT_PART_FUNCTIONS);
}

const STATEMENTS = ['ALTER TABLE usage ADD COLUMN plan_cost INTEGER', 'ALTER TABLE usage ADD COLUMN promo_cost INTEGER'];
