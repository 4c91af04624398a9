import { Buffer } from 'node:buffer';
import { isWellFormed, shownParts } from '../accounts/key-secret.ts';
import type { KeyHolder } from '../accounts/keys.ts';
import { GatewayError } from '../errors.ts';
import { coarseRange, isInRanges } from '../http/address-range.ts';
import type { Incoming } from '../http/incoming.ts';
import type { KeyCache, KnownSecret } from './key-cache.ts';

/** The caller, as far as authentication needs it. */
interface Caller {
  readonly startedAtMs: number;
  /** Set once the key is found. */
  holder: KeyHolder | undefined;
  address(): string;
}

/**
 * Authenticates a request, at once if its key is cached. Only a valid key of an active account, used from an allowed address, passes.
 */
export function authenticate(request: Incoming, caller: Caller, keys: KeyCache): KeyHolder | Promise<KeyHolder> {
  const header = request.headers.get('authorization');
  if (header === null || header.trim() === '') {
    throw new GatewayError('missing_api_key', "You didn't provide an API key. Send it in the header 'Authorization: Bearer YOUR_KEY'.");
  }
  const secret = /^bearer +(\S+)$/i.exec(header.trim())?.[1] ?? readPassword(header);
  if (secret === undefined) {
    throw new GatewayError('invalid_api_key', "The Authorization header must have the form 'Bearer YOUR_KEY'.");
  }
  const found = keys.find(secret);
  const lookUp = { secret, caller, keys };
  return found instanceof Promise ? admitLater(found, lookUp) : admitHolder(found, lookUp);
}

async function admitLater(found: Promise<KnownSecret | undefined>, lookUp: LookUp): Promise<KeyHolder> {
  return admitHolder(await found, lookUp);
}

/** What a key was looked up for. */
interface LookUp {
  readonly secret: string;
  readonly caller: Caller;
  readonly keys: KeyCache;
}

/** Returns the holder of a key that was looked up, if it may be used now and from here. */
function admitHolder(known: KnownSecret | undefined, { secret, caller, keys }: LookUp): KeyHolder {
  if (known === undefined)
    throw new GatewayError('invalid_api_key', `Incorrect API key provided${masked(secret)}. Check it, or create a new key.`);
  const { holder } = known;
  caller.holder = holder;
  if (holder.expiresAtMs !== undefined && holder.expiresAtMs <= Date.now()) {
    throw new GatewayError('invalid_api_key', `The API key provided${masked(secret)} has expired. Create a new key.`);
  }
  if (holder.isDisabled) {
    throw new GatewayError('key_disabled', `The API key provided${masked(secret)} is disabled. Enable it again, or use another key.`);
  }
  if (holder.accountStatus === 'suspended') {
    throw new GatewayError('account_suspended', 'The account that owns this API key is suspended. Contact the operator of this service.');
  }
  if (holder.addressRanges !== undefined && !isInRanges(caller.address(), holder.addressRanges)) throw addressRefusal(caller.address());
  keys.noteUse(known, caller);
  return holder;
}

/** Reads a key sent as the password of Basic authentication, which OpenAI accepts too: some tools know no other way. */
function readPassword(header: string): string | undefined {
  const encoded = /^basic +(\S+)$/i.exec(header.trim())?.[1] ?? '';
  return /^[^:]*:(\S+)$/u.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}

function addressRefusal(address: string): GatewayError {
  // Stored records keep the address only as a block.
  return new GatewayError('address_not_allowed', addressMessage(address), { storableMessage: addressMessage(coarseRange(address)) });
}

function addressMessage(place: string): string {
  return `This API key may not be used from the address ${place === '' ? 'of this connection' : place}. Add it to the key's allowed addresses, or use another key.`;
}

/** Shows which key was sent. Only texts in our own key format are shown: anything else may be another secret. */
function masked(secret: string): string {
  if (!isWellFormed(secret)) return '';
  const { prefix, lastFour } = shownParts(secret);
  return `: ${prefix}****${lastFour}`;
}
