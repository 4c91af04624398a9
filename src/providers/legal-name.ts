import { createHash } from 'node:crypto';

/** Which names a provider accepts: the characters, as in a regular expression, the length, and names that we use ourselves. */
interface NameRule {
  readonly characters: string;
  readonly first?: string;
  readonly charactersMax: number;
  readonly reserved?: readonly string[];
}

const HASH_CHARACTERS = 8;

/**
 * Returns the function that makes names acceptable. A name that is refused becomes as much of it as fits, plus a hash. That
 * depends on the name alone, so it is the same in every turn of a conversation: prompts are cached only if they begin alike.
 */
export function legalName({ characters, first = characters, charactersMax, reserved = [] }: NameRule): (name: string) => string {
  const valid = new RegExp(`^[${first}][${characters}]{0,${charactersMax - 1}}$`, 'u');
  const refused = new RegExp(`[^${characters}]`, 'gu');
  return (name) => {
    if (valid.test(name) && !reserved.includes(name)) return name;
    const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
    // All providers accept a letter or an underscore at the start.
    const readable = name.replaceAll(refused, '_').replace(/^(?![A-Za-z_])/u, '_');
    return `${readable.slice(0, charactersMax - HASH_CHARACTERS - 1)}_${hash}`;
  };
}
