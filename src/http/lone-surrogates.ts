import { Buffer } from 'node:buffer';

const BACKSLASH = 92;
const SMALL_U = 117;
const SMALL_D = 100;
const ESCAPE_BYTES = 6;
/** How escapes of halves begin. */
const SMALL_HALF = Buffer.from('\\ud');
const CAPITAL_HALF = Buffer.from('\\uD');
/** The digit that follows, and all digits. */
const IN_FIRST_HALF = tableOf('89abAB');
const IN_SECOND_HALF = tableOf('cdefCDEF');
const IN_NUMBER = tableOf('0123456789abcdefABCDEF');
/** The digits of the character that is shown in place of one that is not known. */
const REPLACEMENT = Buffer.from('fffd');

/**
 * Replaces halves of characters in a JSON text, in place. They are left of emoji when a client shortens a text, and UTF-8 cannot express
 * them: many providers refuse a body with one, and so every later turn of the conversation. In UTF-8 they exist only as escapes.
 */
export function replaceLoneSurrogates(json: Uint8Array): void {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  // The runtime's own search is many times faster than a loop over the bytes, and most texts have no such escape.
  if (!bytes.includes(SMALL_HALF) && !bytes.includes(CAPITAL_HALF)) return;
  let at = bytes.indexOf(BACKSLASH);
  while (at !== -1) {
    let length = 2;
    if (isHalf(bytes, at, IN_FIRST_HALF) && isHalf(bytes, at + ESCAPE_BYTES, IN_SECOND_HALF)) length = 2 * ESCAPE_BYTES;
    else if (isHalf(bytes, at, IN_FIRST_HALF) || isHalf(bytes, at, IN_SECOND_HALF)) {
      bytes.set(REPLACEMENT, at + 2);
      length = ESCAPE_BYTES;
    }
    at = bytes.indexOf(BACKSLASH, at + length);
  }
}

/** Whether the escape of a half begins here. */
function isHalf(bytes: Buffer, at: number, digits: Uint8Array): boolean {
  return (
    bytes[at] === BACKSLASH &&
    bytes[at + 1] === SMALL_U &&
    ((bytes[at + 2] ?? 0) | 32) === SMALL_D &&
    digits[bytes[at + 3] ?? 0] === 1 &&
    IN_NUMBER[bytes[at + 4] ?? 0] === 1 &&
    IN_NUMBER[bytes[at + 5] ?? 0] === 1
  );
}

function tableOf(characters: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (characters.includes(String.fromCharCode(code)) ? 1 : 0));
}
