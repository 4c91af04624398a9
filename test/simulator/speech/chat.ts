import type { Recorded } from '../recorded.ts';
import type { JsonObject } from '../wire.ts';
import { pieces, REFUSAL, type Speech, type SpokenTokens } from './speech.ts';

/** How a host of the chat-completions dialect spells what the dialect leaves open. */
export interface ChatAccent {
  readonly reasoning: 'hidden' | 'field' | 'parts';
  readonly usage: (tokens: SpokenTokens) => JsonObject;
  /** The message of a refusal, and its finish reason. */
  readonly refusal: readonly [message: JsonObject, finish: string];
  /** Tool calls arrive whole, without index and type. */
  readonly hasBareToolCalls?: true;
  /** Chunks before the first one. */
  readonly opening?: readonly JsonObject[];
}

export const OPENAI: ChatAccent = {
  reasoning: 'hidden',
  usage: (tokens) => ({
    ...sums(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning, audio_tokens: 0 },
  }),
  refusal: [{ content: null, refusal: REFUSAL }, 'stop'],
};

export const AZURE: ChatAccent = {
  ...OPENAI,
  refusal: [{}, 'content_filter'],
  opening: [{ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }],
};

export const MISTRAL: ChatAccent = {
  reasoning: 'parts',
  usage: (tokens) => ({ ...sums(tokens), num_cached_tokens: tokens.cacheRead }),
  // It refuses in text only.
  refusal: [{ content: REFUSAL }, 'stop'],
  hasBareToolCalls: true,
};

export const DEEPSEEK: ChatAccent = {
  reasoning: 'field',
  usage: (tokens) => ({
    ...sums(tokens),
    prompt_cache_hit_tokens: tokens.cacheRead,
    prompt_cache_miss_tokens: tokens.input,
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  }),
  refusal: [{ content: '' }, 'content_filter'],
};

/** Composes an answer in the chat-completions dialect. */
export function composeChat(speech: Speech, accent: ChatAccent): Recorded {
  const indexes = Array.from({ length: speech.choices ?? 1 }, (_, index) => index);
  const envelope = { id: 'chatcmpl-spoken', created: 1_790_000_000, model: 'gpt-simulated' };
  const usage = accent.usage(speech.tokens);
  const choices = indexes.map((index) => ({
    index,
    message: messageOf(speech, accent),
    logprobs: null,
    finish_reason: finishOf(speech, accent),
  }));
  const chunk = (rest: JsonObject): JsonObject => ({ ...envelope, object: 'chat.completion.chunk', ...rest });
  const deltas = deltasOf(speech, accent);
  const steps = deltas.flatMap((delta) =>
    indexes.map((index) => chunk({ choices: [{ index, delta, logprobs: null, finish_reason: null }] })),
  );
  const ends = indexes.map((index) => chunk({ choices: [{ index, delta: {}, logprobs: null, finish_reason: finishOf(speech, accent) }] }));
  return {
    body: JSON.stringify({ ...envelope, object: 'chat.completion', choices, usage }),
    events: [...(accent.opening ?? []), ...steps, ...ends, chunk({ choices: [], usage })],
  };
}

function sums({ input, cacheRead, cacheWrite, output }: SpokenTokens): JsonObject {
  const prompt = input + cacheRead + cacheWrite;
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
}

function finishOf({ end }: Speech, { refusal }: ChatAccent): string {
  return end === 'refusal' ? refusal[1] : end === 'stop_sequence' ? 'stop' : end;
}

function messageOf(speech: Speech, accent: ChatAccent): JsonObject {
  if (speech.end === 'refusal') return { role: 'assistant', ...accent.refusal[0] };
  const { text = null, reasoning, calls } = speech;
  const content = reasoning !== undefined && accent.reasoning === 'parts' ? [thinking(reasoning), { type: 'text', text }] : text;
  const toolCalls = calls?.map(({ id, name, args }) => ({
    id,
    ...(accent.hasBareToolCalls === true ? {} : { type: 'function' }),
    function: { name, arguments: JSON.stringify(args) },
  }));
  return {
    role: 'assistant',
    content,
    ...(reasoning !== undefined && accent.reasoning === 'field' ? { reasoning_content: reasoning } : {}),
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
    refusal: null,
  };
}

function deltasOf(speech: Speech, accent: ChatAccent): JsonObject[] {
  const first = { role: 'assistant', content: '' };
  if (speech.end === 'refusal') return [first, accent.refusal[0]];
  const { text = '', reasoning, calls = [] } = speech;
  const thoughts = reasoning === undefined || accent.reasoning === 'hidden' ? [] : pieces(reasoning);
  return [
    first,
    ...thoughts.map((piece) =>
      accent.reasoning === 'field' ? { content: null, reasoning_content: piece } : { content: [thinking(piece)] },
    ),
    ...pieces(text).map((content) => ({ content })),
    ...(accent.hasBareToolCalls === true ? bareCalls(speech) : calls.flatMap(callDeltas)),
  ];
}

function thinking(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }] };
}

function bareCalls({ calls = [] }: Speech): JsonObject[] {
  const whole = calls.map(({ id, name, args }) => ({ id, function: { name, arguments: JSON.stringify(args) } }));
  return whole.length === 0 ? [] : [{ content: null, tool_calls: whole }];
}

function callDeltas({ id, name, args }: NonNullable<Speech['calls']>[number], index: number): JsonObject[] {
  const grown = pieces(JSON.stringify(args)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }));
  return [{ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, ...grown];
}
