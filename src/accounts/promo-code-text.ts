import { hash, randomInt } from 'node:crypto';

/** Letters and digits that are not mistaken for each other. */
export const PLAIN_LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const GROUPS = 3;
const GROUP_LENGTH = 5;
const LENGTH_MIN = 4;
const LENGTH_MAX = 64;
/** How much of a code may be seen in lists. */
export const SHOWN_LENGTH = 4;

/** Creates a code such as `SPRING-7KQ2M-X9P4T-…`, with 75 random bits, which cannot be guessed. */
export function makeCode(prefix: string): string {
  const groups = Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => PLAIN_LETTERS.charAt(randomInt(PLAIN_LETTERS.length))).join(''),
  );
  return [...(prefix === '' ? [] : [prefix.toUpperCase()]), ...groups].join('-');
}

/** Normalizes a code for comparison. Returns undefined if the text cannot be a code. */
export function normalizeCode(text: string): string | undefined {
  const plain = withoutSeparators(text.slice(0, LENGTH_MAX * 2));
  return /^[A-Z0-9_]+$/u.test(plain) && plain.length >= LENGTH_MIN && plain.length <= LENGTH_MAX ? plain : undefined;
}

/** Brings a code to one form, in capitals. Spaces, dashes of any length and invisible characters do not matter: programs change them. */
export function withoutSeparators(text: string): string {
  return text.replaceAll(/[\s\p{Pd}\p{Cf}]/gu, '').toUpperCase();
}

/** Hashes a normalized code for storage. */
export function hashCode(normalized: string): string {
  return hash('sha256', `promo:${normalized}`, 'hex');
}

/** Returns the start of a code, to tell codes apart in a list. */
export function shownPart(code: string): string {
  return `${code.slice(0, Math.min(SHOWN_LENGTH, code.length - 2))}…`;
}

/** Hashes the mailbox of an address. A tag after a plus, and the dots that Google ignores, do not make another mailbox. */
export function hashMailbox(email: string): string {
  const [name = '', domain = ''] = email.trim().toLowerCase().split('@');
  const plain = name.replace(/\+.*$/u, '');
  const isGoogle = domain === 'gmail.com' || domain === 'googlemail.com';
  return hash('sha256', `mailbox:${isGoogle ? plain.replaceAll('.', '') : plain}@${isGoogle ? 'gmail.com' : domain}`, 'hex');
}
