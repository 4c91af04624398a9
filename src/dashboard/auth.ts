import { betterAuth } from 'better-auth';
import type { Kysely } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { clientAddress, parseNetworks, type TrustedNetworks } from '../http/client-address.ts';
import { ApiError } from './api-error.ts';
import { ADDRESS_HEADER, authOptions } from './auth-options.ts';
import { readSecret } from './auth-secret.ts';
import type { DashboardSettings } from './messages.ts';
import type { Parts, Person } from './parts.ts';
import { claimAccount, isOperator } from './people.ts';

/** Registration, sign-in and sessions. */
export interface Auth {
  /** Answers everything under `/api/auth`. */
  handle(request: Request, address: string): Promise<Response>;
  /** Who the session cookie in these headers belongs to. Refuses people whose account waits for their address to be verified. */
  findPerson(headers: Headers): Promise<Person | undefined>;
  close(): Promise<void>;
}

/** A session that nobody used for so long is over. */
const IDLE_MS = 12 * 3600 * 1000;
/** How exactly it is known when a session was last used. */
const SEEN_MS = 5 * 60 * 1000;
/** What the library can do and we let it do. Everything else under `/api/auth` is not there. */
const PATHS = new Set(['POST /sign-up/email', 'POST /sign-in/email', 'POST /sign-out', 'GET /get-session']);

/** Opens the accounts of people over either database. */
export async function openAuth({ settings, database }: Pick<Parts, 'settings' | 'database'>): Promise<Auth> {
  const own = await openForLibrary(settings, database);
  const secret = settings.secret ?? (await readSecret(database.kysely));
  const library = openLibrary({ settings, secret, database, own: own.kysely });
  const trusted = parseNetworks(settings.trustedProxies) ?? [];
  return {
    handle: async (request, address) => {
      const path = new URL(request.url).pathname.replace(/^\/api\/auth/u, '');
      if (!PATHS.has(`${request.method} ${path}`)) throw new ApiError('not_found', 'There is nothing at this address.');
      return tell(await library.handler(withAddress(request, address, trusted)));
    },
    findPerson: async (headers) => {
      const found = await library.api.getSession({ headers });
      if (found === null || !(await stillLives(database.kysely, found.session))) return undefined;
      const { id, email, emailVerified: isEmailVerified, accountId } = found.user;
      const owned = accountId ?? (await claimAccount(database.kysely, { id, email, isEmailVerified }));
      if (owned === undefined)
        throw new ApiError('forbidden', `There is an account of ${email} already. It becomes yours when you verify that the address is.`);
      return {
        userId: id,
        accountId: owned,
        sessionId: found.session.id,
        email,
        isEmailVerified,
        isOperator: await isOperator(database.kysely, owned),
      };
    },
    close: () => own.close(),
  };
}

interface LibrarySetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: OpenDatabase;
  readonly own: Kysely<unknown>;
}

function openLibrary({ settings, secret, database, own }: LibrarySetup) {
  return betterAuth({
    ...authOptions({ settings, secret, database: own, dialect: database.dialect }),
    databaseHooks: {
      user: {
        create: {
          after: async ({ id, email, emailVerified }) => {
            await claimAccount(database.kysely, { id, email, isEmailVerified: emailVerified });
          },
        },
      },
    },
  });
}

/** The library reads integers as numbers. On PostgreSQL only large ones are not, and its tables have none. */
async function openForLibrary(
  { databasePath }: DashboardSettings,
  { kysely, dialect }: OpenDatabase,
): Promise<{ readonly kysely: Kysely<unknown>; close(): Promise<void> }> {
  if (dialect === 'postgres') return { kysely: kysely as Kysely<unknown>, close: async () => undefined };
  const own = (await import('../database/kysely.ts')).openForeignKysely(databasePath);
  return { kysely: own, close: () => own.destroy() };
}

/** Sessions end by themselves when they are not used; those that are used are marked, now and then. */
async function stillLives(
  database: Parts['database']['kysely'],
  session: { readonly id: string; readonly updatedAt: Date },
): Promise<boolean> {
  const unusedMs = Date.now() - session.updatedAt.getTime();
  if (unusedMs > IDLE_MS) {
    await database.deleteFrom('sessions').where('id', '=', session.id).execute();
    return false;
  }
  if (unusedMs > SEEN_MS)
    await database.updateTable('sessions').set({ updated_at: new Date().toISOString() }).where('id', '=', session.id).execute();
  return true;
}

function withAddress(request: Request, connectionAddress: string, trusted: TrustedNetworks): Request {
  const headers = new Headers(request.headers);
  headers.set(ADDRESS_HEADER, clientAddress(connectionAddress, headers, trusted));
  return new Request(request, { headers });
}

/** Refusals look like those of every other address. */
async function tell(response: Response): Promise<Response> {
  if (response.ok || response.status < 400) return response;
  const said: unknown = await response.json().catch(() => undefined);
  const { code = 'refused', message = 'This is not possible.' } = (said ?? {}) as { code?: string; message?: string };
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  return Response.json({ error: { code: code.toLowerCase(), message } }, { status: response.status, headers });
}
