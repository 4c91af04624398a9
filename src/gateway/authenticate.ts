import { hashSecret, isWellFormed, shownParts } from '../accounts/key-secret.ts';
import type { KeyUses } from '../accounts/key-uses.ts';
import type { KeyHolder, Keys } from '../accounts/keys.ts';
import { GatewayError } from '../errors.ts';
import { coarseRange, isInRanges } from '../http/address-range.ts';
import type { BudgetPeriod } from '../ledger/ledger.ts';

/** A secret that was looked up. */
interface KnownSecret {
  readonly hash: string;
  readonly holder: KeyHolder;
  notedAtMs: number;
}

/** Looks up who holds a secret; remembers the answer until an account or key changes. */
export class KeyCache {
  readonly #keys: Keys;
  readonly #uses: KeyUses;
  #known = new Map<string, KnownSecret | undefined>();

  constructor(keys: Keys, uses: KeyUses) {
    this.#keys = keys;
    this.#uses = uses;
  }

  /** Accounts or keys have changed: every holder is looked up again. */
  refresh(): void {
    this.#known = new Map();
  }

  /** At once where it is known, which is nearly always. */
  find(secret: string): KnownSecret | undefined | Promise<KnownSecret | undefined> {
    // The whole hash is the key of the cache: with a part of it, one caller could be taken for another.
    const hash = hashSecret(secret);
    const known = this.#known.get(hash);
    if (known !== undefined || this.#known.has(hash)) return known;
    // A mistyped or invented key is seen by its checksum and costs no look-up.
    if (!isWellFormed(secret)) return undefined;
    return this.#look(hash);
  }

  async #look(hash: string): Promise<KnownSecret | undefined> {
    const cache = this.#known;
    const holder = await this.#keys.findHolder(hash).catch((error: unknown) => {
      throw unreadable(error);
    });
    if (cache.size >= CACHED_KEYS_MAX) cache.clear();
    const found = holder === undefined ? undefined : { hash, holder, notedAtMs: 0 };
    // Into the map of the time of asking: if a change emptied the cache meanwhile, this answer may be old.
    cache.set(hash, found);
    return found;
  }

  /** A secret was used. Told once in a while: people want to know whether it still is, not each time that it was. */
  noteUse(known: KnownSecret, caller: Caller): void {
    if (caller.startedAtMs - known.notedAtMs < NOTE_INTERVAL_MS) return;
    known.notedAtMs = caller.startedAtMs;
    this.#uses.noteUse(known.hash, caller.startedAtMs, caller.address());
  }

  /** A budget of a key has refused a request. */
  noteRefusal(keyId: string, period: BudgetPeriod, atMs: number): void {
    this.#uses.noteRefusal(keyId, period, atMs);
  }
}

const CACHED_KEYS_MAX = 100_000;
const NOTE_INTERVAL_MS = 5000;

/** The caller, as far as it matters who that is. */
interface Caller {
  readonly startedAtMs: number;
  /** Who it turns out to be. */
  holder: KeyHolder | undefined;
  address(): string;
}

/** Finds out whose request this is. Everything but a living key of an active account, used from where it may be, is refused. */
export async function authenticate(request: Request, caller: Caller, keys: KeyCache): Promise<KeyHolder> {
  const header = request.headers.get('authorization');
  if (header === null || header.trim() === '') {
    throw new GatewayError('missing_api_key', "You didn't provide an API key. Send it in the header 'Authorization: Bearer YOUR_KEY'.");
  }
  const secret = /^bearer +(\S+)$/i.exec(header.trim())?.[1];
  if (secret === undefined) {
    throw new GatewayError('invalid_api_key', "The Authorization header must have the form 'Bearer YOUR_KEY'.");
  }
  const found = keys.find(secret);
  const known = found instanceof Promise ? await found : found;
  if (known === undefined)
    throw new GatewayError('invalid_api_key', `Incorrect API key provided${masked(secret)}. Check it, or make a new key.`);
  const { holder } = known;
  caller.holder = holder;
  if (holder.expiresAtMs !== undefined && holder.expiresAtMs <= Date.now()) {
    throw new GatewayError('invalid_api_key', `The API key provided${masked(secret)} has expired. Make a new key.`);
  }
  if (holder.isDisabled) {
    throw new GatewayError('key_disabled', `The API key provided${masked(secret)} is disabled. Enable it again, or use another key.`);
  }
  if (holder.accountStatus === 'suspended') {
    throw new GatewayError('account_suspended', 'The account that owns this API key is suspended. Ask the operator of this service.');
  }
  if (holder.addressRanges !== undefined && !isInRanges(caller.address(), holder.addressRanges)) throw addressRefusal(caller.address());
  keys.noteUse(known, caller);
  return holder;
}

/** The database is away. That is no word against the key, so the caller may try again. */
function unreadable(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', 'The API key cannot be looked up just now. Try again shortly.', {
    cause,
    retryAfterSeconds: 1,
  });
}

function addressRefusal(address: string): GatewayError {
  // Where a key is used from is kept as a block only.
  return new GatewayError('address_not_allowed', addressMessage(address), { keptMessage: addressMessage(coarseRange(address)) });
}

function addressMessage(place: string): string {
  return `This API key may not be used from the address ${place === '' ? 'of this connection' : place}. Add it to the addresses of the key, or use another key.`;
}

/** Tells the caller which key was sent. Only texts in our own form are shown: anything else may be another secret. */
function masked(secret: string): string {
  if (!isWellFormed(secret)) return '';
  const { prefix, lastFour } = shownParts(secret);
  return `: ${prefix}****${lastFour}`;
}
