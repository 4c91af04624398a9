import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { defineRequestState } from '@better-auth/core/context';
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import { parseCookies } from 'better-auth/cookies';
import { cookiePrefixOf } from './options.ts';

const COOKIE = 'device';
const DEVICE_SECONDS = 365 * 24 * 3600;
const ID_BYTES = 16;

/** The address whose password was set by a link from an email, for later steps of the same request. */
export const addressOfReset = defineRequestState<string | undefined>(() => undefined);

/**
 * Marks the browsers in which a person signed in or used a link for a new password. Their attempts are counted apart, so strangers
 * who use up the attempts at an address do not keep its owner out.
 */
export function rememberDevices(publicUrl: string, secret: string): BetterAuthPlugin {
  const handler = createAuthMiddleware(async (context) => {
    const email = context.context.newSession?.user.email ?? (await addressOfReset.get());
    if (email === undefined) return;
    const { name, attributes } = context.context.createAuthCookie(COOKIE, { maxAge: DEVICE_SECONDS });
    const known = readDevice(context.headers, { email, publicUrl, secret });
    const id = known ?? randomBytes(ID_BYTES).toString('base64url');
    context.setCookie(name, `${id}.${signatureOf(id, email, secret)}`, attributes);
  });
  return { id: 'tollgate-known-devices', hooks: { after: [{ matcher: () => true, handler }] } };
}

/** Whose device it might be. */
interface Owner {
  readonly email: string;
  readonly publicUrl: string;
  readonly secret: string;
}

/** Returns the id of a device on which the owner of an address has signed in. */
export function readDevice(headers: Headers | undefined, { email, publicUrl, secret }: Owner): string | undefined {
  const cookie = parseCookies(headers?.get('cookie') ?? '').get(`${cookiePrefixOf(publicUrl)}.${COOKIE}`) ?? '';
  const [id = '', signature = ''] = cookie.split('.');
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(id, email, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
}

function signatureOf(id: string, email: string, secret: string): string {
  return createHmac('sha256', secret).update(`device:${id}:${email}`).digest('base64url');
}
