import { toLetters } from './passwords.ts';

/** A known password with at most this many extra digits and symbols is still recognised. */
const EXTRA_CHARACTERS_MAX = 6;
/** Shorter words also occur in passwords that are hard to guess. */
const WORD_CHARACTERS_MIN = 5;

let list: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password is in a list of leaked passwords, as it is or disguised with digits and symbols. The check is local: the list
 * of about 50,000 comes from a package and is loaded when someone first chooses a password.
 */
export async function isStolenPassword(password: string): Promise<boolean> {
  list ??= readList();
  const stolen = await list;
  const text = password.toLowerCase();
  if (stolen.has(text)) return true;
  const bare = toLetters(text);
  return bare.length >= WORD_CHARACTERS_MIN && text.length - bare.length <= EXTRA_CHARACTERS_MAX && stolen.has(bare);
}

async function readList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
