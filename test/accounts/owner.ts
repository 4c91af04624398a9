import { Accounts, type Account } from '../../src/accounts/accounts.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { Keys, type FreshKey, type KeyHolder, type KeyRequest } from '../../src/accounts/keys.ts';
import type { OpenStore } from './stores.ts';

/** An account owner who creates and changes keys. */
export class Owner {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly account: Account;

  private constructor(accounts: Accounts, keys: Keys, account: Account) {
    this.accounts = accounts;
    this.keys = keys;
    this.account = account;
  }

  static async at(store: OpenStore): Promise<Owner> {
    const accounts = new Accounts(store.kysely);
    return new Owner(accounts, new Keys(store.kysely), await makeAccount(accounts));
  }

  /** Returns a request by this owner about a key, whichever account it belongs to. */
  by(id: string): KeyRequest {
    return { id, accountId: this.account.id, actor: 'owner@example.com' };
  }

  holderOf(secret: string): Promise<KeyHolder | undefined> {
    return this.keys.findHolder(hashSecret(secret));
  }

  /** Returns true if the gateway would accept this secret now. */
  async isAlive(secret: string): Promise<boolean> {
    const holder = await this.holderOf(secret);
    return holder !== undefined && (holder.expiresAtMs === undefined || holder.expiresAtMs > Date.now());
  }

  async rotate(id: string, overlapMs: number): Promise<string> {
    // Secrets are ordered by the millisecond of their creation.
    await Bun.sleep(2);
    return freshOf(await this.keys.rotate(this.by(id), overlapMs)).secret;
  }
}

/** Returns the new key, or throws if it was refused. */
export function freshOf(result: FreshKey | string): FreshKey {
  if (typeof result === 'string') throw new Error(result);
  return result;
}

async function makeAccount(accounts: Accounts): Promise<Account> {
  const made = await accounts.create(`${crypto.randomUUID()}@example.com`, false);
  if (made === undefined) throw new Error('the address is taken');
  return made;
}
