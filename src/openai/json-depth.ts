import { endOfString } from '../http/json-layout.ts';

/** No honest value is nested deeper. To write one that is nested some ten thousand levels deep takes the runtime seconds, in which nobody is served. */
export const JSON_DEPTH_MAX = 1000;

const QUOTE = 34;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Whether a JSON text is nested too deep to be parsed and written again. Long texts are passed over at memory speed, short ones not looked at. */
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
