import { createHash } from 'node:crypto';
import type { JsonObject } from '../openai/types.ts';

/** The old spelling has no ids: what is kept for a call is found again by what was called, which callers send back as it was. */
export function legacyCallId({ name, arguments: given }: JsonObject): string {
  const plain = `${String(name)}\n${typeof given === 'string' ? given : ''}`;
  return `function_call_${createHash('sha256').update(plain).digest('hex').slice(0, 24)}`;
}
