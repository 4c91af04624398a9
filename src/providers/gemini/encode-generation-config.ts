import { callerLimitOf, type JsonObject } from '../../openai/types.ts';
import { refusal } from '../dialect.ts';
import { encodeThinking } from './encode-thinking.ts';
import type { Draft } from './draft.ts';

const INT32_MAX = 2 ** 31 - 1;

/** Encodes the generation config. `format` holds the fields of the response format. */
export function encodeGenerationConfig(draft: Draft, format: JsonObject): JsonObject {
  const { chat, target } = draft;
  const config: JsonObject = {
    maxOutputTokens: target.outputTokensMax ?? callerLimitOf(chat),
    temperature: chat['temperature'],
    topP: chat['top_p'],
    topK: chat['top_k'],
    ...encodePenalties(draft),
    ...encodeLogprobs(draft),
    stopSequences: encodeStop(chat['stop']),
    seed: encodeSeed(draft),
    candidateCount: chat.n === undefined || chat.n === 1 ? undefined : chat.n,
    thinkingConfig: encodeThinking(draft),
    responseModalities: encodeModalities(draft),
    ...format,
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

function encodePenalties({ chat, service, capabilities, dropped }: Draft): JsonObject {
  const { presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty } = chat;
  if (service === 'vertex' || capabilities.hasPenalties) return { presencePenalty, frequencyPenalty };
  for (const name of ['presence_penalty', 'frequency_penalty']) if (chat[name] !== undefined && chat[name] !== 0) dropped.add(name);
  return {};
}

function encodeLogprobs({ chat, service, capabilities, dropped }: Draft): JsonObject {
  if (chat['logprobs'] !== true) return {};
  const { top_logprobs: alternatives } = chat;
  if (capabilities.logprobs === 'everywhere' || capabilities.logprobs === service)
    return { responseLogprobs: true, ...(alternatives === undefined || alternatives === 0 ? {} : { logprobs: alternatives }) };
  dropped.add('logprobs');
  if (alternatives !== undefined) dropped.add('top_logprobs');
  return {};
}

function encodeStop(stop: unknown): readonly unknown[] | undefined {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === 'string' && text !== '');
  return sequences.length === 0 ? undefined : sequences;
}

/** Encodes the seed. OpenAI's seeds have 64 bits and Google's 32. Truncating would make different seeds equal. */
function encodeSeed({ chat, dropped }: Draft): number | undefined {
  const { seed } = chat;
  if (seed === undefined) return undefined;
  if (typeof seed === 'number' && Math.abs(seed) <= INT32_MAX) return seed;
  dropped.add('seed');
  return undefined;
}

function encodeModalities({ chat, capabilities }: Draft): readonly string[] | undefined {
  const { modalities } = chat;
  if (!Array.isArray(modalities)) return undefined;
  if (modalities.includes('audio')) throw refusal('modalities', 'This model cannot return audio here. Request text instead.');
  if (!modalities.includes('image')) return undefined;
  if (!capabilities.hasImageOutput) throw refusal('modalities', 'This model cannot return images. Request text instead.');
  return modalities.map((name) => String(name).toUpperCase());
}
