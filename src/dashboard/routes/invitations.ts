import { Hono } from 'hono';
import { Invitations } from '../../accounts/invitations.ts';
import { ApiError } from '../api-error.ts';
import { SIGN_UP } from '../auth/requests.ts';
import type { Env, Dependencies } from '../dependencies.ts';

/** Shows an invitation without using it up. */
export function invitationRoutes({ auth, database: { kysely } }: Dependencies) {
  return new Hono<Env>().get('/:token', async (c) => {
    await auth.limits.admit([[LOOKUPS, auth.networkOf(c.req.raw.headers, c.env.address)]]);
    const invitation = await new Invitations(kysely).find(c.req.param('token'));
    if (invitation === undefined) throw new ApiError('not_found', 'Invitation not found.');
    return c.json({ kind: invitation.kind, state: invitation.state, email: invitation.email ?? null });
  });
}

const LOOKUPS = { ...SIGN_UP, kind: 'invitation', max: 60 };
