import { Hono, type MiddlewareHandler } from 'hono';
import type { Kysely } from 'kysely';
import { recordDeed } from '../../../accounts/audit.ts';
import type { Tables } from '../../../database/tables.ts';
import { HOUR_MS } from '../../../durations.ts';
import { ApiError } from '../../api-error.ts';
import { isReading } from '../../operators.ts';
import type { Env, Parts, Person } from '../../parts.ts';
import { VIEWABLE, type Viewable } from '../../viewable.ts';

/** The routes of an account's pages, which read whose they are from the person. */
export type Pages = Readonly<Record<Viewable, Hono<Env>>>;

/** Somebody who goes on looking is told of again after this. */
const NOTED_MS = HOUR_MS;
const NOTED_MAX = 1000;

/** One account as its owner sees it, for operators who help. They are the owner's own addresses, so both see the same; nothing is changed by them. */
export function adminViewRoutes({ database: { kysely } }: Parts, pages: Pages): Hono<Env> {
  const view = new Hono<Env>().use(viewing(kysely));
  for (const name of VIEWABLE) view.route(`/${name}`, pages[name]);
  return view;
}

/** Puts the owner in the place of the operator who looks. */
function viewing(database: Kysely<Tables>): MiddlewareHandler<Env> {
  const visits = new Visits(database);
  return async (c, next) => {
    if (!isReading(c.req.method))
      throw new ApiError('forbidden', "You are viewing another person's account. Only its owner can change it.");
    const operator = c.get('person');
    const owner = await findOwner(database, c.req.param('viewed') ?? '');
    await visits.note(operator, owner.accountId);
    c.set('person', { ...operator, ...owner, isOperator: false, viewedBy: operator.email });
    await next();
  };
}

/** An account that only the command line knows has nobody who signs in with it. */
async function findOwner(database: Kysely<Tables>, id: string): Promise<Omit<Person, 'sessionId' | 'signedInAtMs' | 'isOperator'>> {
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

/** Tells the audit log who looked at whose account: once an hour for each session, for a page asks for many things. */
class Visits {
  readonly #database: Kysely<Tables>;
  readonly #noted = new Map<string, { readonly atMs: number; readonly written: Promise<void> }>();

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Resolves when the entry is written: nobody sees anything before that. */
  note({ sessionId, email }: Person, accountId: string): Promise<void> {
    const name = `${sessionId} ${accountId}`;
    const nowMs = Date.now();
    const noted = this.#noted.get(name);
    if (noted !== undefined && nowMs - noted.atMs < NOTED_MS) return noted.written;
    if (this.#noted.size >= NOTED_MAX) this.#noted.clear();
    const written = recordDeed(this.#database, { actor: email, action: 'account.view', subject: accountId, changes: [] });
    this.#noted.set(name, { atMs: nowMs, written });
    written.catch(() => this.#noted.delete(name));
    return written;
  }
}
