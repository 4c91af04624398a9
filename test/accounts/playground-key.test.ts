import { expect, test } from 'bun:test';
import { Accounts } from '../../src/accounts/accounts.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { makePlaygroundSecret } from '../../src/accounts/playground-key.ts';
import { eachStore } from '../database/each-store.ts';

const HOUR_MS = 3_600_000;

eachStore((database) => {
  test('the playground has one key, whose secrets are valid for an hour', async () => {
    const account = await new Accounts(database().kysely).create('player@example.com', false);
    if (account === undefined) throw new Error('the address is taken');
    const make = async () => makePlaygroundSecret(database().kysely, account.id);
    const [first, second] = [await make(), await make()];
    if (first.type === 'full' || second.type === 'full') throw new Error('too many secrets');
    expect(second.keyId).toBe(first.keyId);
    const holder = await new Keys(database().kysely).findHolder(hashSecret(second.secret));
    expect(holder).toMatchObject({ accountId: account.id, name: 'Playground', expiresAtMs: second.expiresAtMs });
    expect(second.expiresAtMs - Date.now()).toBeWithin(HOUR_MS - 60_000, HOUR_MS + 1);
    for (let count = 2; count < 20; count += 1) await make();
    const refused = await make();
    expect(refused.type === 'full' && refused.freeInMs).toBeWithin(HOUR_MS - 60_000, HOUR_MS);
  });
});
