import { hashSecret, isWellFormed, shownParts } from '../accounts/key-secret.ts';
import type { KeyHolder, Keys } from '../accounts/keys.ts';
import { GatewayError } from '../errors.ts';

/** Looks up who holds a secret; remembers the answer until an account or key changes. */
export class KeyCache {
  readonly #keys: Keys;
  #holders = new Map<string, KeyHolder | undefined>();

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** Accounts or keys have changed: every holder is looked up again. */
  refresh(): void {
    this.#holders = new Map();
  }

  async find(secret: string): Promise<KeyHolder | undefined> {
    // The whole hash is the key of the cache: with a part of it, one caller could be taken for another.
    const hash = hashSecret(secret);
    const known = this.#holders.get(hash);
    if (known !== undefined || this.#holders.has(hash)) return known;
    // A mistyped or invented key is seen by its checksum and costs no look-up.
    if (!isWellFormed(secret)) return undefined;
    const holders = this.#holders;
    const holder = await this.#keys.findHolder(hash);
    if (holders.size >= CACHED_KEYS_MAX) holders.clear();
    // Into the map of the time of asking: if a change emptied the cache meanwhile, this answer may be old.
    holders.set(hash, holder);
    return holder;
  }
}

const CACHED_KEYS_MAX = 100_000;

/** Finds out whose request this is. Everything but a living key of an active account is refused. */
export async function authenticate(request: Request, keys: KeyCache): Promise<KeyHolder> {
  const header = request.headers.get('authorization');
  if (header === null || header.trim() === '') {
    throw new GatewayError('missing_api_key', "You didn't provide an API key. Send it in the header 'Authorization: Bearer YOUR_KEY'.");
  }
  const secret = /^bearer +(\S+)$/i.exec(header.trim())?.[1];
  if (secret === undefined) {
    throw new GatewayError('invalid_api_key', "The Authorization header must have the form 'Bearer YOUR_KEY'.");
  }
  const holder = await keys.find(secret);
  if (holder === undefined)
    throw new GatewayError('invalid_api_key', `Incorrect API key provided${masked(secret)}. Check it, or make a new key.`);
  if (holder.expiresAtMs !== undefined && holder.expiresAtMs <= Date.now()) {
    throw new GatewayError('invalid_api_key', `The API key provided${masked(secret)} has expired. Make a new key.`);
  }
  if (holder.accountStatus === 'suspended') {
    throw new GatewayError('account_suspended', 'The account that owns this API key is suspended. Ask the operator of this service.');
  }
  return holder;
}

/** Tells the caller which key was sent. Only texts in our own form are shown: anything else may be another secret. */
function masked(secret: string): string {
  if (!isWellFormed(secret)) return '';
  const { prefix, lastFour } = shownParts(secret);
  return `: ${prefix}****${lastFour}`;
}
