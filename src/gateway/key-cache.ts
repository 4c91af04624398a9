import { hashSecret, isWellFormed } from '../accounts/key-secret.ts';
import type { KeyUses } from '../accounts/key-uses.ts';
import type { KeyHolder, Keys } from '../accounts/keys.ts';
import { GatewayError } from '../errors.ts';
import type { BudgetPeriod } from '../ledger/ledger.ts';

const CACHED_KEYS_MAX = 100_000;
const NOTE_INTERVAL_MS = 5000;

/** The cached result of looking up a secret. */
export interface KnownSecret {
  readonly hash: string;
  readonly holder: KeyHolder;
  notedAtMs: number;
}

/** Looks up the holder of a secret, and caches the result until the account or one of its keys changes. */
export class KeyCache {
  readonly #keys: Keys;
  readonly #uses: KeyUses;
  readonly #known = new Map<string, KnownSecret>();
  /** The known secrets of each account. */
  readonly #hashes = new Map<string, string[]>();
  /** Secrets that do not exist. */
  readonly #unknown = new Set<string>();
  /** Lookups in progress. Many requests may wait for the same one. */
  #lookups = new Map<string, Promise<KnownSecret | undefined>>();

  constructor(keys: Keys, uses: KeyUses) {
    this.#keys = keys;
    this.#uses = uses;
  }

  /** Forgets accounts that have changed, or all of them, and which secrets do not exist: a new one may be among them. */
  forget(accountIds: readonly string[] = [...this.#hashes.keys()]): void {
    this.#lookups = new Map();
    this.#unknown.clear();
    for (const accountId of accountIds) {
      for (const hash of this.#hashes.get(accountId) ?? []) this.#known.delete(hash);
      this.#hashes.delete(accountId);
    }
  }

  /** Finds a secret, synchronously when it is cached, which is nearly always. */
  find(secret: string): KnownSecret | undefined | Promise<KnownSecret | undefined> {
    // The cache key is the whole hash: with only a part of it, one caller could be mistaken for another.
    const hash = hashSecret(secret);
    const known = this.#known.get(hash);
    if (known !== undefined || this.#unknown.has(hash)) return known;
    // The checksum exposes a mistyped or invented key without a lookup.
    if (!isWellFormed(secret)) return undefined;
    let lookup = this.#lookups.get(hash);
    if (lookup === undefined) {
      lookup = this.#lookUp(hash);
      this.#lookups.set(hash, lookup);
    }
    return lookup;
  }

  async #lookUp(hash: string): Promise<KnownSecret | undefined> {
    const lookups = this.#lookups;
    try {
      const holder = await this.#keys.findHolder(hash);
      const found = holder === undefined ? undefined : { hash, holder, notedAtMs: 0 };
      // The lookups were replaced if something has changed since this one began: its result may be stale.
      if (lookups === this.#lookups) this.#remember(hash, found);
      return found;
    } catch (error) {
      throw lookupFailed(error);
    } finally {
      lookups.delete(hash);
    }
  }

  #remember(hash: string, found: KnownSecret | undefined): void {
    if (found === undefined) {
      if (this.#unknown.size >= CACHED_KEYS_MAX) this.#unknown.clear();
      this.#unknown.add(hash);
      return;
    }
    if (this.#known.size >= CACHED_KEYS_MAX) this.forget();
    this.#known.set(hash, found);
    const { accountId } = found.holder;
    const hashes = this.#hashes.get(accountId);
    if (hashes === undefined) this.#hashes.set(accountId, [hash]);
    else hashes.push(hash);
  }

  /** Notes that a secret was used, at most once per interval: people want to know when it was last used, not each time. */
  noteUse(known: KnownSecret, caller: KeyCaller): void {
    if (caller.startedAtMs - known.notedAtMs < NOTE_INTERVAL_MS) return;
    known.notedAtMs = caller.startedAtMs;
    this.#uses.noteUse(known.hash, caller.startedAtMs, caller.address());
  }

  /** Notes that a key's budget refused a request. */
  noteRefusal(keyId: string, period: BudgetPeriod, atMs: number): void {
    this.#uses.noteRefusal(keyId, period, atMs);
  }
}

/** The caller, as far as a note of its use needs it. */
interface KeyCaller {
  readonly startedAtMs: number;
  address(): string;
}

/** The error for a failed lookup. It does not mean that the key is wrong, so the client may retry. */
function lookupFailed(cause: unknown): GatewayError {
  return new GatewayError('ledger_unavailable', 'The API key cannot be checked right now. Try again shortly.', {
    cause,
    retryAfterSeconds: 1,
  });
}
