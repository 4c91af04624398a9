import { createHash } from 'node:crypto';
import type { JsonObject } from '../openai/types.ts';

/**
 * Derives an id for a legacy function call, which has none. It is a hash of the name and arguments, which callers send
 * back unchanged, so values kept for the call can be found again.
 */
export function legacyCallId({ name, arguments: given }: JsonObject): string {
  const plain = `${String(name)}\n${typeof given === 'string' ? given : ''}`;
  return `function_call_${createHash('sha256').update(plain).digest('hex').slice(0, 24)}`;
}
