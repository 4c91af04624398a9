import { Hono } from 'hono';
import { z } from 'zod';
import { visibleName } from '../../accounts/line-of-text.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { deviceOf } from '../people/device.ts';
import { validate } from '../validate.ts';
import { removeMethod } from './linked-accounts.ts';

const passkeySchema = z.strictObject({ name: visibleName().max(100) });

/** A person's sessions and passkeys. */
export function accessRoutes(dependencies: Dependencies) {
  const { kysely } = dependencies.database;
  return new Hono<Env>()
    .get('/sessions', async (c) => {
      const { userId, sessionId } = c.get('person');
      return c.json({ sessions: await listSessions(dependencies, userId, sessionId) });
    })
    .delete('/sessions', async (c) => {
      const { userId, sessionId } = c.get('person');
      await kysely.deleteFrom('sessions').where('person_id', '=', userId).where('id', '<>', sessionId).execute();
      return c.json({ isDone: true });
    })
    .delete('/sessions/:id', async (c) => {
      const { numDeletedRows } = await kysely
        .deleteFrom('sessions')
        .where('id', '=', c.req.param('id'))
        .where('person_id', '=', c.get('person').userId)
        .executeTakeFirst();
      if (numDeletedRows !== 1n) throw new ApiError('not_found', 'Session not found.');
      return c.json({ isDone: true });
    })
    .get('/passkeys', async (c) => c.json({ passkeys: await listPasskeys(dependencies, c.get('person').userId) }))
    .patch('/passkeys/:id', validate('json', passkeySchema), async (c) => {
      const { numUpdatedRows } = await kysely
        .updateTable('passkeys')
        .set({ name: c.req.valid('json').name })
        .where('id', '=', c.req.param('id'))
        .where('person_id', '=', c.get('person').userId)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) throw new ApiError('not_found', 'Passkey not found.');
      return c.json({ isDone: true });
    })
    .delete('/passkeys/:id', async (c) => {
      await removeMethod(dependencies, c.get('person'), { kind: 'passkeys', id: c.req.param('id') });
      return c.json({ isDone: true });
    });
}

/** Lists a person's sessions, most recently used first. */
export async function listSessions({ database: { kysely } }: Dependencies, userId: string, ownId: string | undefined) {
  const rows = await kysely.selectFrom('sessions').selectAll().where('person_id', '=', userId).orderBy('updated_at', 'desc').execute();
  return rows.map(({ id, address, user_agent, created_at, updated_at }) => ({
    id,
    device: deviceOf(user_agent),
    address,
    signedInAt: new Date(created_at).toISOString(),
    lastSeenAt: new Date(updated_at).toISOString(),
    isThisOne: id === ownId,
  }));
}

async function listPasskeys({ database: { kysely } }: Dependencies, userId: string) {
  const rows = await kysely.selectFrom('passkeys').select(['id', 'name', 'created_at']).where('person_id', '=', userId).execute();
  return rows.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at === null ? null : new Date(created_at).toISOString() }));
}
