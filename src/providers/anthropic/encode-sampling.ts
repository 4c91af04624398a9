import type { JsonObject } from '../../openai/types.ts';
import type { Draft } from './draft.ts';
import type { Thinking } from './encode-thinking.ts';

/** Encodes what shapes the choice of words: temperature and its relatives, and where to stop. */
export function encodeSampling(draft: Draft, { isOn }: Thinking): JsonObject {
  const { chat, can, dropped } = draft;
  const asked = ['temperature', 'top_p', 'top_k'].filter((name) => typeof chat[name] === 'number' && chat[name] !== NEUTRAL[name]);
  // The models that have these refuse them while they think, and refuse both of the first two at once.
  const allowed = can.takesSampling && !isOn ? asked.filter((name) => name !== 'top_p' || !asked.includes('temperature')) : [];
  for (const name of asked) if (!allowed.includes(name)) dropped.add(name);
  const sampling = Object.fromEntries(allowed.map((name) => [name, encodeNumber(name, chat[name] as number)]));
  return { ...sampling, ...encodeStop(draft) };
}

/** The defaults: naming them changes nothing, but is refused by models without sampling. */
const NEUTRAL: Readonly<Record<string, number>> = { temperature: 1, top_p: 1 };

/** The scale ends at 1 here, where callers may go to 2. */
function encodeNumber(name: string, value: number): number {
  return name === 'temperature' ? Math.min(1, value) : value;
}

function encodeStop({ chat, dropped }: Draft): JsonObject {
  const wanted = (Array.isArray(chat['stop']) ? chat['stop'] : [chat['stop']]).filter((text): text is string => typeof text === 'string');
  const sequences = wanted.filter((text) => text.trim() !== '');
  // Sequences of nothing but white space are refused.
  if (sequences.length < wanted.length) dropped.add('stop');
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
}
