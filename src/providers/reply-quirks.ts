import { isObject, objectOf, textOf, type ChatRequest, type FinishReason, type JsonObject } from '../openai/types.ts';
import type { Host, ReplyQuirks } from './host.ts';
import { FINISH_REASONS, hasToolCalls } from './repair-chunks.ts';
import { ProviderFault, type ReplyContext } from './dialect.ts';
import { ToolCallRepairer } from './repair-tool-calls.ts';
import { readToolChoice } from './tool-choice.ts';
import { lookUp } from './look-up.ts';

/** Known deviations that are understood from every host, because hosts change and serve each other's models. */
const LENIENT = {
  finish: {
    model_length: 'length',
    max_tokens: 'length',
    tool_use: 'tool_calls',
    model_context_window_exceeded: 'length',
    sensitive: 'content_filter',
  },
  faults: { error: 502, insufficient_system_resource: 503 },
  cachedTokens: [
    'prompt_cache_hit_tokens',
    'num_cached_tokens',
    'cached_tokens',
    'prompt_token_details.cached_tokens',
    'cache_read_input_tokens',
  ],
} as const satisfies ReplyQuirks;

/** Where a count may be: a field, or one of an object in a field. */
interface Place {
  readonly holder: string | undefined;
  readonly name: string;
}

/** Reads a place as written: a field name, or two joined by a dot. */
function placeOf(path: string): Place {
  const [name = '', inner] = path.split('.');
  return inner === undefined ? { holder: undefined, name } : { holder: name, name: inner };
}

type AllQuirks = Omit<ReplyQuirks, 'cachedTokens'> & { readonly cachedTokens: readonly Place[] };

/** The merged quirks of each host. Hosts do not change while the process runs, so they are merged once. */
const ALL_QUIRKS = new WeakMap<Host, AllQuirks>();

function allQuirksOf(host: Host): AllQuirks {
  let quirks = ALL_QUIRKS.get(host);
  if (quirks === undefined) {
    const { reply = {} } = host;
    const finish = { ...LENIENT.finish, ...reply.finish };
    const faults = { ...LENIENT.faults, ...reply.faults };
    quirks = { ...reply, finish, faults, cachedTokens: [...(reply.cachedTokens ?? []), ...LENIENT.cachedTokens].map(placeOf) };
    ALL_QUIRKS.set(host, quirks);
  }
  return quirks;
}

/** Normalises a host's deviations. One instance per answer, because it tracks tool calls. */
export class ReplyQuirksReader {
  readonly #name: string;
  readonly #chat: ChatRequest;
  readonly #quirks: AllQuirks;
  readonly #toolCalls: ToolCallRepairer;
  /** The last piece of reasoning of each choice, if nothing has followed it yet. */
  #reasoned: Map<unknown, unknown> | undefined;

  constructor(host: Host, { requestId, chat }: Pick<ReplyContext, 'requestId' | 'chat'>) {
    this.#chat = chat;
    this.#name = host.name;
    this.#quirks = allQuirksOf(host);
    this.#toolCalls = new ToolCallRepairer(requestId);
  }

  /** True when a piece of reasoning means nothing by itself, because the host sends some of them twice. */
  get repeatsReasoning(): boolean {
    return this.#quirks.repeatsReasoning === true;
  }

  /** Throws if the host reports an error in its own place. */
  refuseError(body: JsonObject): void {
    const place = this.#quirks.statusObject;
    const state = place === undefined ? undefined : body[place.name];
    if (!isObject(state) || place === undefined) return;
    const code = state['status_code'];
    if (typeof code !== 'number' || code === 0) return;
    const message = typeof state['status_msg'] === 'string' ? state['status_msg'] : 'The provider reported an error';
    throw new ProviderFault(message, { status: lookUp(place.statuses, code) ?? 502, code: String(code) });
  }

  /** Patches the choices of an answer or a chunk in place. */
  readChoices(choices: readonly JsonObject[]): void {
    for (const choice of choices) this.#readChoice(choice);
  }

  /** Returns what completes the last delta of a choice that ended without a finish reason: the missing arguments of its tool calls. */
  endOf(index: unknown): JsonObject {
    const pieces = this.#toolCalls.end(index);
    return pieces.length === 0 ? {} : { tool_calls: pieces };
  }

  /** Returns the usage of a chunk or an answer, with cached tokens moved to where the dialect expects them. */
  readUsage(body: JsonObject): unknown {
    const usage = body['usage'] ?? usageOfChoice(body['choices']);
    if (isObject(usage)) completeUsage(usage, this.#quirks);
    return usage;
  }

  #readChoice(choice: JsonObject): void {
    const { delta, message } = choice;
    const reason = choice['finish_reason'];
    const isEnd = typeof reason === 'string' && reason !== '';
    if (isObject(delta)) {
      readMessage(delta);
      if (this.repeatsReasoning) this.#dropRepetition(delta, choice['index']);
      this.#toolCalls.repairDelta(delta, choice['index'], isEnd);
    }
    if (isObject(message)) {
      readMessage(message);
      this.#toolCalls.repairMessage(message, choice['index']);
    }
    if (isEnd && (reason === 'stop' || !FINISH_REASONS.has(reason))) choice['finish_reason'] = this.#finishReason(reason, choice);
  }

  #dropRepetition(delta: JsonObject, index: unknown): void {
    const { reasoning_content: reasoning } = delta;
    this.#reasoned ??= new Map();
    if (Boolean(reasoning) && reasoning === this.#reasoned.get(index)) delete delta['reasoning_content'];
    this.#reasoned.set(index, reasoning);
  }

  /** Maps the finish reason. Clients fail on one that the dialect does not define, and some run no tool after a plain stop. */
  #finishReason(reason: string, choice: JsonObject): FinishReason {
    const { finish = {}, faults = {} } = this.#quirks;
    const status = lookUp(faults, reason);
    if (status !== undefined) throw new ProviderFault(`${this.#name} broke off its answer: ${reason}`, { status, code: reason });
    const mapped = lookUp(finish, reason) ?? 'stop';
    return mapped === 'stop' && this.#hasChosenTool(choice) ? 'tool_calls' : mapped;
  }

  /** True when the model has called a tool of its own choice. OpenAI ends a call that the caller demanded by name with a plain stop. */
  #hasChosenTool({ index, message }: JsonObject): boolean {
    return (hasToolCalls(message) || this.#toolCalls.hasCalls(index)) && readToolChoice(this.#chat).mode !== 'tool';
  }
}

/** Fields that are either absent or a list or an object. Clients that find null there read its length and fail. */
const NEVER_NULL = ['tool_calls', 'function_call', 'annotations'];

function readMessage(message: JsonObject): void {
  const { content, reasoning } = message;
  for (const name of NEVER_NULL) if (message[name] === null) delete message[name];
  if (Array.isArray(content)) flattenContent(message, content);
  if (typeof reasoning === 'string') message['reasoning_content'] ??= reasoning;
}

/** Joins text parts into the content and thinking parts into the reasoning. */
function flattenContent(message: JsonObject, parts: readonly unknown[]): void {
  let text = '';
  let reasoning = '';
  for (const part of parts.filter(isObject)) {
    if (typeof part['text'] === 'string') text += part['text'];
    if (Array.isArray(part['thinking'])) reasoning += part['thinking'].map((inner) => textOf(objectOf(inner)['text'])).join('');
    else if (typeof part['thinking'] === 'string') reasoning += part['thinking'];
  }
  message['content'] = text;
  if (reasoning !== '') message['reasoning_content'] = reasoning;
}

function usageOfChoice(choices: unknown): unknown {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? first['usage'] : undefined;
}

/** Fields that hold the cache-write count, besides `cache_write_tokens`: DashScope's, and those of gateways that use Anthropic's names. */
const CACHE_WRITES = ['prompt_tokens_details.cache_creation_input_tokens', 'cache_creation_input_tokens'].map(placeOf);

function completeUsage(usage: JsonObject, { cachedTokens, countsCachedApart }: AllQuirks): void {
  const cached = completeDetail(usage, 'cached_tokens', cachedTokens);
  completeDetail(usage, 'cache_write_tokens', CACHE_WRITES);
  const prompt = usage['prompt_tokens'];
  if (countsCachedApart === true && typeof prompt === 'number' && cached > prompt) usage['prompt_tokens'] = prompt + cached;
}

/** Returns a count from the prompt details. A count found elsewhere is copied there, where it is read and charged. */
function completeDetail(usage: JsonObject, name: string, places: readonly Place[]): number {
  const details = objectOf(usage['prompt_tokens_details']);
  const count = details[name] ?? firstNumber(usage, places);
  if (typeof count !== 'number') return 0;
  if (details[name] !== count) usage['prompt_tokens_details'] = { ...details, [name]: count };
  return count;
}

/** Returns the first number found at one of these places. */
function firstNumber(usage: JsonObject, places: readonly Place[]): number | undefined {
  for (const place of places) {
    const holder = place.holder === undefined ? usage : usage[place.holder];
    const value = isObject(holder) ? holder[place.name] : undefined;
    if (typeof value === 'number') return value;
  }
  return undefined;
}
