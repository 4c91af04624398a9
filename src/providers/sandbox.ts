import { formatEvent, DONE } from '../http/sse.ts';
import { callerLimitOf, isObject, type ChatRequest, type JsonObject, type WireUsage } from '../openai/types.ts';
import { lostCacheMarks } from './cache-marks.ts';
import { lostDetail, lostMessageFields } from './lost-fields.ts';
import { openai } from './openai.ts';
import type { Dialect, Target, UpstreamRequest } from './dialect.ts';

/** The built-in provider: canned answers in the OpenAI dialect, so that everything can be tried without a key. */
export const SANDBOX_PROVIDER = 'sandbox';

const WORD_GAP_MS = 15;
/** The usual rule of thumb, four characters per token, is accurate enough for a sandbox. */
const CHARACTERS_PER_TOKEN = 4;

const STORY =
  'Once there was a gate on a mountain road, and a keeper who counted every cart that passed. He wrote each toll in a book, ' +
  'never a coin too many, never a coin too few, and before a cart went on he showed its driver the page. Other gates were ' +
  'quicker to open and quicker to charge; but when winter came and the merchants added up their year, it was the honest book ' +
  'they trusted, and the road past it that they took. (This story is canned: the sandbox runs no model.)';

const HELLO = 'Hello! The gate is open, and this answer is free. (It is canned: the sandbox runs no model.)';

const price = { input: 0.1, output: 0.4 };
const common = {
  provider: SANDBOX_PROVIDER,
  created: 1_767_225_600,
  context_length: 32_768,
  max_output_tokens: 4096,
  features: [],
  price,
};

/** The built-in models, as catalogue entries. One is free, so that accounts without money can check that everything works. */
export const SANDBOX_MODELS: readonly JsonObject[] = [
  { ...common, id: 'sandbox/echo', name: 'Sandbox Echo (canned)', routes: [{ provider: SANDBOX_PROVIDER, model: 'echo' }] },
  { ...common, id: 'sandbox/story', name: 'Sandbox Story (canned)', routes: [{ provider: SANDBOX_PROVIDER, model: 'story' }] },
  {
    ...common,
    id: 'sandbox/hello',
    name: 'Sandbox Hello (canned, free)',
    price: { input: 0, output: 0 },
    routes: [{ provider: SANDBOX_PROVIDER, model: 'hello' }],
  },
];

/** The relayed dialect, answering locally instead of over the network. */
export const sandbox: Dialect = { ...openai, encodeRequest, answer };

/** Canned answers heed few fields. The others are reported, so that nobody concludes from the sandbox that a field works. */
function encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest {
  const dropped = new Set([...lostCacheMarks(chat, 'none'), ...lostMessageFields(chat.messages), ...lostDetail(chat.messages)]);
  for (const name of Object.keys(chat)) if (!HEEDED.has(name) && !isDefault(name, chat[name])) dropped.add(name);
  return { ...openai.encodeRequest(chat, target), dropped: [...dropped] };
}

const HEEDED: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options', 'n', 'max_tokens', 'max_completion_tokens']);

/** Defaults, as JSON: ignoring them loses nothing. */
const DEFAULTS: ReadonlySet<string> = new Set(
  `"temperature":1 "top_p":1 "presence_penalty":0 "frequency_penalty":0 "logprobs":false "store":false "parallel_tool_calls":true
  "tool_choice":"none" "reasoning_effort":"none" "reasoning_effort":"default" "verbosity":"medium" "service_tier":"auto"
  "service_tier":"default" "response_format":{"type":"text"} "modalities":["text"]`.split(/\s+/),
);

function isDefault(name: string, value: unknown): boolean {
  return value === undefined || value === null || DEFAULTS.has(`"${name}":${JSON.stringify(value)}`);
}

async function answer(request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
  const chat = JSON.parse(request.body) as ChatRequest;
  const words = cut(textOf(chat), chat);
  const usage = countUsage(chat, words.pieces.length);
  const envelope = { id: `chatcmpl-sandbox-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: chat.model };
  if (chat.stream !== true) return Response.json(wholeAnswer(envelope, words, { chat, usage }));
  return new Response(streamAnswer(chunksOf(envelope, words, { chat, usage }), signal), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

function textOf(chat: ChatRequest): string {
  if (chat.model === 'echo') return lastUserText(chat);
  return chat.model === 'hello' ? HELLO : STORY;
}

interface Words {
  readonly pieces: readonly string[];
  readonly finish: 'stop' | 'length';
}

/**
 * The boundary between a word and the white space before the next. Looking at only two characters avoids backtracking over
 * long runs of white space.
 */
const WORD_END = /(?<=\S)(?=\s)/;

/** The length the models declare. Without this limit, a long text repeated for many choices could exhaust memory. */
const CHARACTERS_MAX = common.max_output_tokens * CHARACTERS_PER_TOKEN;

/** Splits the text into the words that will be streamed. Each counts as one token, so a limit of three gives three words. */
function cut(text: string, chat: ChatRequest): Words {
  const said = text.slice(0, CHARACTERS_MAX).toWellFormed().trimEnd();
  const pieces = said === '' ? ['(empty)'] : said.split(WORD_END);
  const limit = callerLimitOf(chat) ?? Number.POSITIVE_INFINITY;
  const isCut = pieces.length > limit || text.length > CHARACTERS_MAX;
  return { pieces: pieces.slice(0, limit), finish: isCut ? 'length' : 'stop' };
}

function lastUserText(chat: ChatRequest): string {
  const content = chat.messages.findLast((message) => message['role'] === 'user')?.['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return 'There is no user message to repeat.';
  return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '[not text]')).join(' ');
}

function countUsage(chat: ChatRequest, outputWords: number): WireUsage {
  const prompt = Math.ceil(JSON.stringify(chat.messages).length / CHARACTERS_PER_TOKEN);
  const completion = outputWords * (chat.n ?? 1);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

interface Envelope {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface Facts {
  readonly chat: ChatRequest;
  readonly usage: WireUsage;
}

function wholeAnswer(envelope: Envelope, words: Words, { chat, usage }: Facts): JsonObject {
  const message = { role: 'assistant', content: words.pieces.join(''), refusal: null };
  const choices = choiceIndexes(chat).map((index) => ({ index, message, logprobs: null, finish_reason: words.finish }));
  return { ...envelope, object: 'chat.completion', choices, usage };
}

function* chunksOf(envelope: Envelope, words: Words, { chat, usage }: Facts): Generator<string> {
  const chunk = (index: number, delta: JsonObject, finish: string | null = null): string =>
    formatEvent(
      JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices: [{ index, delta, logprobs: null, finish_reason: finish }] }),
    );
  const indexes = choiceIndexes(chat);
  for (const index of indexes) yield chunk(index, { role: 'assistant', content: '', refusal: null });
  for (const content of words.pieces) for (const index of indexes) yield chunk(index, { content });
  for (const index of indexes) yield chunk(index, {}, words.finish);
  yield formatEvent(JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices: [], usage }));
  yield DONE;
}

function choiceIndexes(chat: ChatRequest): number[] {
  return Array.from({ length: chat.n ?? 1 }, (_, index) => index);
}

/** Streams word by word at reading pace, so that streaming is visible. Stops when the caller disconnects. */
function streamAnswer(chunks: Iterator<string>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, WORD_GAP_MS));
      const next = signal.aborted ? { done: true as const } : chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
  });
}
