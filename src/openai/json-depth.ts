import { endOfString } from '../http/json-layout.ts';

/** Deeper than any genuine value. Writing a value nested ten thousand levels deep takes seconds, during which no request is served. */
export const JSON_DEPTH_MAX = 1000;

const QUOTE = 34;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Whether a JSON text is nested too deeply to be parsed and written again. Strings are skipped at memory speed; short texts are not scanned. */
export function isNestedTooDeep(text: string, depthMax = JSON_DEPTH_MAX): boolean {
  if (text.length <= 2 * depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) depth += 1;
    else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}
