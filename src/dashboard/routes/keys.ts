import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { KEYS_MAX, SECRETS_MAX, type KeyRequest } from '../../accounts/keys.ts';
import { isPlaygroundKey } from '../../accounts/playground-key.ts';
import { ApiError } from '../api-error.ts';
import { download } from '../download.ts';
import { KeyDesk, noSuchKey } from './key-desk.ts';
import { bulkSchema, deletionSchema, keyChangeSchema, newKeySchema, rotationSchema } from './key-form.ts';
import { keysCsv } from './describe-key.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

/** The time zone whose calendar defines today and this month. */
const zoneQuery = z.object({ zone: zoneShape });

/** The API keys of the signed-in person's account. Keys of other accounts are answered with 404. */
export function keyRoutes(dependencies: Dependencies) {
  const desk = new KeyDesk(dependencies);
  return new Hono<Env>().route('/', listRoutes(desk)).route('/', oneKeyRoutes(desk));
}

function listRoutes(desk: KeyDesk) {
  return new Hono<Env>()
    .get('/', validate('query', zoneQuery), async (c) => {
      return c.json({ keys: await desk.list(c.get('person').accountId, c.req.valid('query').zone) });
    })
    .get('/options', async (c) => c.json(await desk.options()))
    .get('/csv', validate('query', zoneQuery), async (c) => {
      const { zone } = c.req.valid('query');
      return download('keys.csv', keysCsv(await desk.list(c.get('person').accountId, zone), zone));
    })
    .post('/', validate('json', newKeySchema), async (c) => {
      const { accountId, email } = c.get('person');
      const form = c.req.valid('json');
      await desk.refuseRaisedLimits(c.get('person'), form);
      await desk.refuseUnknownModels([...(form.models ?? []), ...(form.deniedModels ?? [])]);
      const fresh = await desk.keys.createWithinLimit(accountId, form, email);
      if (fresh === undefined)
        throw new ApiError('conflict', `An account can have at most ${KEYS_MAX} keys. Delete some that are no longer used.`);
      return c.json(await desk.describeFresh(fresh, form.name), 201);
    })
    .post('/bulk', validate('json', bulkSchema), async (c) => {
      const { action, ids } = c.req.valid('json');
      let changed = 0;
      for (const id of ids) {
        const request = requestOf(c, id);
        const isDone = await (action === 'delete'
          ? desk.keys.delete(request)
          : desk.keys.update(request, { isDisabled: action === 'disable' }));
        if (isDone) changed += 1;
      }
      return c.json({ changed });
    });
}

function oneKeyRoutes(desk: KeyDesk) {
  return new Hono<Env>()
    .get('/:id', validate('query', zoneQuery), async (c) => {
      return c.json(await desk.show(c.get('person').accountId, c.req.param('id'), c.req.valid('query').zone));
    })
    .get('/:id/live', async (c) => c.json(await desk.watch(c.get('person').accountId, c.req.param('id'))))
    .patch('/:id', validate('query', zoneQuery), validate('json', keyChangeSchema), async (c) => {
      const { accountId } = c.get('person');
      const change = c.req.valid('json');
      const key = await desk.find(accountId, c.req.param('id'));
      await desk.refuseRaisedLimits(c.get('person'), change, key);
      const known = new Set([...(key.models ?? []), ...(key.deniedModels ?? [])]);
      await desk.refuseUnknownModels([...(change.models ?? []), ...(change.deniedModels ?? [])].filter((id) => !known.has(id)));
      if (!(await desk.keys.update(requestOf(c, key.id), change))) throw noSuchKey();
      return c.json(await desk.describe(accountId, key.id, c.req.valid('query').zone));
    })
    .post('/:id/trial', async (c) => c.json(await desk.makeTrial(requestOf(c, c.req.param('id'))), 201))
    .post('/:id/rotate', validate('json', rotationSchema), async (c) => {
      const { name, id } = await desk.find(c.get('person').accountId, c.req.param('id'));
      if (isPlaygroundKey(id))
        throw new ApiError('conflict', 'The playground key creates its own secrets, each valid for an hour. It cannot be rotated.');
      const fresh = await desk.keys.rotate(requestOf(c, id), c.req.valid('json').overlapMs);
      if (fresh === 'no_such_key') throw noSuchKey();
      if (fresh === 'too_many_secrets')
        throw new ApiError('conflict', `This key already has ${SECRETS_MAX} valid secrets. End the overlap first, or rotate without one.`);
      return c.json(await desk.describeFresh(fresh, name), 201);
    })
    .post('/:id/end-overlap', validate('query', zoneQuery), async (c) => {
      if (!(await desk.keys.endOverlap(requestOf(c, c.req.param('id'))))) throw noSuchKey();
      return c.json(await desk.describe(c.get('person').accountId, c.req.param('id'), c.req.valid('query').zone));
    })
    .delete('/:id', validate('json', deletionSchema), async (c) => {
      const { name, id } = await desk.find(c.get('person').accountId, c.req.param('id'));
      if (c.req.valid('json').name.trim() !== name)
        throw new ApiError('invalid', `Type the name of the key, ${name}, to delete it.`, 'name');
      if (!(await desk.keys.delete(requestOf(c, id)))) throw noSuchKey();
      return c.json({ deleted: true });
    });
}

function requestOf(c: Context<Env>, id: string): KeyRequest {
  const { accountId, email } = c.get('person');
  return { id, accountId, actor: email };
}
