import { isObject, type JsonObject } from '../openai/types.ts';
import type { FinishReason } from './envelope.ts';
import type { Host, ReplyQuirks } from './host.ts';
import { ProviderFault } from './provider.ts';

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/** Reads what a host says in its own way, and says it as the dialect does. One for each answer: it counts tool calls. */
export class ReplyQuirksReader {
  readonly #name: string;
  readonly #quirks: ReplyQuirks;
  /** The ids of the tool calls of each choice, in the order in which they came. */
  readonly #toolCalls = new Map<unknown, unknown[]>();

  constructor(host: Host) {
    this.#name = host.name;
    this.#quirks = host.reply ?? {};
  }

  /** Throws where the host reports an error in a place of its own. */
  refuseError(body: JsonObject): void {
    const place = this.#quirks.statusObject;
    const state = place === undefined ? undefined : body[place.name];
    if (!isObject(state) || place === undefined) return;
    const code = state['status_code'];
    if (typeof code !== 'number' || code === 0) return;
    const message = typeof state['status_msg'] === 'string' ? state['status_msg'] : 'The provider reported an error';
    throw new ProviderFault(message, { status: place.statuses[code] ?? 502, code: String(code) });
  }

  /** Changes the choices of an answer or a chunk in place. */
  readChoices(choices: readonly unknown[]): void {
    for (const choice of choices) if (isObject(choice)) this.#readChoice(choice);
  }

  /** What a chunk or an answer says about its tokens, with the cached ones where the dialect has them. */
  readUsage(body: JsonObject): unknown {
    const usage = body['usage'] ?? (this.#quirks.hasUsageInChoice === true ? usageOfChoice(body['choices']) : undefined);
    if (isObject(usage)) completeUsage(usage, this.#quirks);
    return usage;
  }

  #readChoice(choice: JsonObject): void {
    if (this.#quirks.hasBareChoices === true && choice['message'] === undefined) choice['delta'] ??= {};
    const { delta, message } = choice;
    if (isObject(delta)) {
      this.#readMessage(delta);
      if (this.#quirks.hasBareToolCalls === true) this.#numberToolCalls(toolCallsOf(delta), choice['index']);
    }
    if (isObject(message)) {
      message['content'] ??= null;
      this.#readMessage(message);
    }
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && !FINISH_REASONS.has(reason)) choice['finish_reason'] = this.#finishReason(reason);
  }

  #readMessage(message: JsonObject): void {
    const { hasThinkingParts, reasoningField, hasBareToolCalls } = this.#quirks;
    if (hasThinkingParts === true && Array.isArray(message['content'])) flattenContent(message, message['content']);
    const reasoning = reasoningField === undefined ? undefined : message[reasoningField];
    if (typeof reasoning === 'string') message['reasoning_content'] ??= reasoning;
    if (hasBareToolCalls !== true) return;
    // Of a call in pieces only the first has an id, and the type belongs there.
    for (const call of toolCallsOf(message)) if (call['id'] !== undefined) call['type'] ??= 'function';
  }

  /** Clients put streamed calls together by their index. A call with a new id is the next one; one without an id goes on. */
  #numberToolCalls(calls: readonly JsonObject[], choice: unknown): void {
    const ids = this.#toolCalls.get(choice) ?? [];
    this.#toolCalls.set(choice, ids);
    for (const call of calls) {
      const { id } = call;
      if (id !== undefined && !ids.includes(id)) ids.push(id);
      call['index'] ??= id === undefined ? Math.max(0, ids.length - 1) : ids.indexOf(id);
    }
  }

  /** A reason that nobody knows is taken for a plain end: clients fail on words that the dialect does not have. */
  #finishReason(reason: string): FinishReason {
    const status = this.#quirks.faults?.[reason];
    if (status !== undefined) throw new ProviderFault(`${this.#name} broke off its answer: ${reason}`, { status, code: reason });
    return this.#quirks.finish?.[reason] ?? 'stop';
  }
}

function toolCallsOf(message: JsonObject): JsonObject[] {
  return Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isObject) : [];
}

/** Text parts make the content, parts of the thinking the reasoning. */
function flattenContent(message: JsonObject, parts: readonly unknown[]): void {
  let text = '';
  let reasoning = '';
  for (const part of parts.filter(isObject)) {
    if (typeof part['text'] === 'string') text += part['text'];
    if (Array.isArray(part['thinking']))
      reasoning += part['thinking'].map((inner) => (isObject(inner) && typeof inner['text'] === 'string' ? inner['text'] : '')).join('');
    else if (typeof part['thinking'] === 'string') reasoning += part['thinking'];
  }
  message['content'] = text;
  if (reasoning !== '') message['reasoning_content'] = reasoning;
}

function usageOfChoice(choices: unknown): unknown {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? first['usage'] : undefined;
}

function completeUsage(usage: JsonObject, { cachedTokens = [], countsCachedApart }: ReplyQuirks): void {
  const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const cached = details['cached_tokens'] ?? cachedTokens.map((path) => valueAt(usage, path)).find((value) => typeof value === 'number');
  if (typeof cached !== 'number') return;
  if (details['cached_tokens'] === undefined) usage['prompt_tokens_details'] = { ...details, cached_tokens: cached };
  const prompt = usage['prompt_tokens'];
  if (countsCachedApart === true && typeof prompt === 'number' && cached > prompt) usage['prompt_tokens'] = prompt + cached;
}

function valueAt(usage: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), usage);
}
