import { expect, test } from 'bun:test';
import { Accounts } from '../../src/accounts/accounts.ts';
import { prepareFirstStart } from '../../src/accounts/first-start.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { eachStore } from '../database/each-store.ts';

const MODELS = ['sandbox/story'];

eachStore((database) => {
  test('of several nodes that start together for the first time, one gets the trial key and the link', async () => {
    const { kysely } = database();
    const results = await Promise.all(Array.from({ length: 4 }, () => prepareFirstStart(kysely, MODELS)));
    const [first, ...others] = results.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    const trial = await new Accounts(kysely).find('trial@localhost');
    expect(await new Keys(kysely).findHolder(hashSecret(first?.secret ?? ''))).toMatchObject({ accountId: trial?.id, models: MODELS });
    expect(await new Keys(kysely).list(trial?.id ?? '')).toHaveLength(1);
    expect(String(trial?.balance)).toBe('1000000000');
    expect(await kysely.selectFrom('invitations').select('kind').execute()).toEqual([{ kind: 'operator' }]);
    expect(await prepareFirstStart(kysely, MODELS)).toBeUndefined();
  });
});
