import { undress } from './passwords.ts';

/** A word may be dressed up with so many digits and signs and still be found. */
const DRESS_CHARACTERS_MAX = 6;
/** Shorter ones are found in passwords that nobody would guess. */
const WORD_CHARACTERS_MIN = 5;

let kept: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password is one that was stolen elsewhere and is known since, as it is or dressed up. Nothing leaves this
 * machine: the list is the one of a package, of some 50,000, and is read when the first person chooses a password.
 */
export async function isStolenPassword(password: string): Promise<boolean> {
  kept ??= readList();
  const stolen = await kept;
  const text = password.toLowerCase();
  if (stolen.has(text)) return true;
  const bare = undress(text);
  return bare.length >= WORD_CHARACTERS_MIN && text.length - bare.length <= DRESS_CHARACTERS_MAX && stolen.has(bare);
}

async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
