import type { Recorded } from '../recorded.ts';
import type { JsonObject } from '../wire.ts';
import { pieces, type Speech } from './speech.ts';

/** Composes the answer of a Gemini model. A call arrives whole and without an id, and the count grows from event to event. */
export function composeGenerateContent(speech: Speech): Recorded {
  const envelope = { modelVersion: 'gemini-simulated', responseId: 'spoken' };
  const usageMetadata = usageOf(speech);
  if (speech.end === 'refusal') {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata, ...envelope };
    return { body: JSON.stringify(blocked), events: [blocked] };
  }
  const indexes = Array.from({ length: speech.choices ?? 1 }, (_, index) => index);
  const finishReason = speech.end === 'length' ? 'MAX_TOKENS' : 'STOP';
  const wholes = indexes.map((index) => ({ content: { role: 'model', parts: partsOf(speech) }, finishReason, index }));
  const steps = stepsOf(speech).map((part) => indexes.map((index) => ({ content: { role: 'model', parts: [part] }, index })));
  const ends = indexes.map((index) => ({ content: { role: 'model', parts: [{ text: '' }] }, finishReason, index }));
  const early = { promptTokenCount: usageMetadata['promptTokenCount'], totalTokenCount: usageMetadata['promptTokenCount'] };
  return {
    body: JSON.stringify({ candidates: wholes, usageMetadata, ...envelope }),
    events: [
      ...steps.map((candidates) => ({ candidates, usageMetadata: early, ...envelope })),
      { candidates: ends, usageMetadata, ...envelope },
    ],
  };
}

/** Cached tokens are part of the prompt, and thoughts are counted in addition to the candidates. Zeros are omitted. */
function usageOf({ tokens }: Speech): JsonObject {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: tokens.output - tokens.reasoning,
    totalTokenCount: prompt + tokens.output,
    ...(tokens.cacheRead === 0 ? {} : { cachedContentTokenCount: tokens.cacheRead }),
    ...(tokens.reasoning === 0 ? {} : { thoughtsTokenCount: tokens.reasoning }),
  };
}

function partsOf({ reasoning, text, calls = [] }: Speech): JsonObject[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(callPart),
  ];
}

function stepsOf({ reasoning = '', text = '', calls = [] }: Speech): JsonObject[] {
  return [
    ...pieces(reasoning).map((piece) => ({ text: piece, thought: true })),
    ...pieces(text).map((piece) => ({ text: piece })),
    ...calls.map(callPart),
  ];
}

function callPart({ name, args }: NonNullable<Speech['calls']>[number]): JsonObject {
  return { functionCall: { name, ...(Object.keys(args).length === 0 ? {} : { args }) } };
}
