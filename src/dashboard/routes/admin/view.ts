import { Hono, type MiddlewareHandler } from 'hono';
import type { Kysely } from 'kysely';
import { recordAction } from '../../../accounts/audit.ts';
import type { Tables } from '../../../database/tables.ts';
import { HOUR_MS } from '../../../durations.ts';
import { ApiError } from '../../api-error.ts';
import { isReading } from '../../operators.ts';
import type { Env, Dependencies, Person } from '../../dependencies.ts';
import { VIEWABLE, type Viewable } from '../../viewable.ts';

/** The routes of an account's pages. They take the account from the person in the context. */
export type Pages = Readonly<Record<Viewable, Hono<Env>>>;

/** A view that continues is recorded again after this time. */
const RECORD_AGAIN_MS = HOUR_MS;
const RECORDED_MAX = 1000;

/** One account as its owner sees it, for operators who help them. Mounts the owner's own routes, so both see the same. Read-only. */
export function adminViewRoutes({ database: { kysely } }: Dependencies, pages: Pages): Hono<Env> {
  const view = new Hono<Env>().use(viewAsOwner(kysely));
  for (const name of VIEWABLE) view.route(`/${name}`, pages[name]);
  return view;
}

/** Replaces the operator in the context with the owner of the viewed account. */
function viewAsOwner(database: Kysely<Tables>): MiddlewareHandler<Env> {
  const views = new Views(database);
  return async (c, next) => {
    if (!isReading(c.req.method))
      throw new ApiError('forbidden', "You are viewing another person's account. Only its owner can change it.");
    const operator = c.get('person');
    const owner = await findOwner(database, c.req.param('viewed') ?? '');
    await views.record(operator, owner.accountId);
    c.set('person', { ...operator, ...owner, isOperator: false, viewedBy: operator.email });
    await next();
  };
}

/** Returns the owner of an account. One that was created on the command line may have none, which leaves the person's fields empty. */
async function findOwner(
  database: Kysely<Tables>,
  id: string,
): Promise<Omit<Person, 'sessionId' | 'signedInAtMs' | 'passedSecondFactor' | 'isOperator'>> {
  const owner = await database
    .selectFrom('accounts')
    .leftJoin('people', 'people.account_id', 'accounts.id')
    .select(['accounts.id', 'accounts.email', 'people.id as userId', 'people.name', 'people.email_verified', 'people.two_factor_enabled'])
    .where('accounts.id', '=', id)
    .executeTakeFirst();
  if (owner === undefined) throw new ApiError('not_found', 'Account not found.');
  return {
    userId: owner.userId ?? '',
    accountId: owner.id,
    name: owner.name ?? '',
    email: owner.email,
    isEmailVerified: Boolean(owner.email_verified),
    hasTwoFactor: Boolean(owner.two_factor_enabled),
  };
}

/** Records in the audit log who viewed whose account. Once an hour per session, because a page makes many requests. */
class Views {
  readonly #database: Kysely<Tables>;
  readonly #recorded = new Map<string, { readonly atMs: number; readonly written: Promise<void> }>();

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Resolves when the entry is written. Nothing is shown before that. */
  record({ sessionId, email }: Person, accountId: string): Promise<void> {
    const name = `${sessionId} ${accountId}`;
    const nowMs = Date.now();
    const recorded = this.#recorded.get(name);
    if (recorded !== undefined && nowMs - recorded.atMs < RECORD_AGAIN_MS) return recorded.written;
    if (this.#recorded.size >= RECORDED_MAX) this.#recorded.clear();
    const written = recordAction(this.#database, { actor: email, action: 'account.view', subject: accountId, changes: [] });
    this.#recorded.set(name, { atMs: nowMs, written });
    written.catch(() => this.#recorded.delete(name));
    return written;
  }
}
