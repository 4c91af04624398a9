import type { JsonObject } from '../../openai/types.ts';
import type { Draft } from './draft.ts';
import type { Thinking } from './encode-thinking.ts';

/** Encodes sampling parameters and stop sequences. */
export function encodeSampling(draft: Draft, { isOn }: Thinking): JsonObject {
  const { chat, capabilities, dropped } = draft;
  const asked = ['temperature', 'top_p', 'top_k'].filter((name) => typeof chat[name] === 'number' && chat[name] !== NEUTRAL[name]);
  // Models that support these refuse them while thinking, and refuse `temperature` together with `top_p`.
  const allowed = capabilities.takesSampling && !isOn ? asked.filter((name) => name !== 'top_p' || !asked.includes('temperature')) : [];
  for (const name of asked) if (!allowed.includes(name)) dropped.add(name);
  const sampling = Object.fromEntries(allowed.map((name) => [name, encodeNumber(name, chat[name] as number)]));
  return { ...sampling, ...encodeStop(draft) };
}

/** Defaults. Naming them changes nothing, but models without sampling refuse them. */
const NEUTRAL: Readonly<Record<string, number>> = { temperature: 1, top_p: 1 };

/** Caps the temperature at 1, the provider's maximum. Callers may go up to 2. */
function encodeNumber(name: string, value: number): number {
  return name === 'temperature' ? Math.min(1, value) : value;
}

function encodeStop({ chat, dropped }: Draft): JsonObject {
  const wanted = (Array.isArray(chat['stop']) ? chat['stop'] : [chat['stop']]).filter((text): text is string => typeof text === 'string');
  const sequences = wanted.filter((text) => text.trim() !== '');
  // Blank sequences are refused.
  if (sequences.length < wanted.length) dropped.add('stop');
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
}
