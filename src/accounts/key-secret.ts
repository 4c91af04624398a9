import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'sk-tg-';
const RANDOM_BYTES = 32;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is just above 2^256, 62^6 just above 2^32. */
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const SECRET = /^sk-tg-[0-9A-Za-z]{49}$/;
const SHOWN_PREFIX_LENGTH = PREFIX.length + 4;

/** Creates a secret: `sk-tg-`, 256 random bits and a checksum, in letters and digits. */
export function makeSecret(): string {
  const body = PREFIX + toBase62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_DIGITS);
  return body + checksum(body);
}

/** Returns true if a text has the form of a secret and a valid checksum, so that mistyped or invented keys cost no look-up. */
export function isWellFormed(secret: string): boolean {
  return SECRET.test(secret) && secret.endsWith(checksum(secret.slice(0, -CHECKSUM_DIGITS)));
}

/** Hashes a secret for storage. 256 random bits cannot be guessed, so a fast hash is enough. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Returns the parts of a secret that may be shown, to tell keys apart. */
export function shownParts(secret: string): { readonly prefix: string; readonly lastFour: string } {
  return { prefix: secret.slice(0, SHOWN_PREFIX_LENGTH), lastFour: secret.slice(-4) };
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

function toBase62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
