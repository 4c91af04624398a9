import { saysOtherwise } from '../openai/check-messages.ts';
import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';
import type { ReplyContext } from './provider.ts';

/** The reasons to finish that clients know; they fail on any other. */
export const FINISH_REASONS: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
/** The service tiers that they know: clients with strict types fail on any other as well. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set([null, 'auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** More are left out: they are kept until the end of the answer. */
const CITATIONS_MAX = 1000;

/**
 * Gives choices what hosts leave out (Azure's notes of a content filter have no delta), before anything else is read of them: an index, and an object for what is said. An end without
 * a delta has tool calls to complete as well, and the ids of calls have the index in them.
 */
export function completeChoices(choices: readonly unknown[], field: 'delta' | 'message', { choiceIndex }: ReplyContext): void {
  for (const [position, choice] of choices.entries()) {
    if (!isObject(choice)) continue;
    choice['index'] = choiceIndex ?? (Number.isInteger(choice['index']) ? choice['index'] : position);
    if (!isObject(choice[field])) choice[field] = {};
  }
}

/**
 * Keeps what clients are promised of a relayed stream, whoever wrote it: one identity, a role at the beginning of each
 * choice and only there, one list of citations, a reason to finish that they know. A chunk that is in order is only
 * looked at.
 */
export class ChunkMender {
  readonly #context: ReplyContext;
  readonly #begun = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  /** What each choice cites, until its end has come. A template skips what repeats itself, so it is told once. */
  readonly #cited = new Map<unknown, Map<string, unknown>>();
  #id: string | undefined;
  #created: number | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Changes a chunk in place. */
  mend(chunk: WireChunk, choices: readonly unknown[]): void {
    // Some hosts write the time of each chunk, and some an id only now and then.
    chunk.id = this.#id ??= idOf(chunk.id, this.#context);
    chunk.created = this.#created ??= timeOf(chunk.created, this.#context);
    chunk['object'] = 'chat.completion.chunk';
    mendTier(chunk, this.#context);
    for (const choice of choices) if (isObject(choice)) this.#mendChoice(choice);
  }

  /** What belongs into the last delta of a choice: all that it cites. */
  endOf(index: unknown): JsonObject {
    this.#ended.add(index);
    const cited = this.#cited.get(index);
    return cited === undefined ? {} : { annotations: [...cited.values()] };
  }

  #mendChoice(choice: JsonObject): void {
    mendFinish(choice);
    const delta = choice['delta'] as JsonObject;
    const { role } = delta;
    // Said once: some clients join whatever comes again, and end up with the role "assistantassistant".
    if (!this.#begun.has(choice['index'])) {
      this.#begun.add(choice['index']);
      if (role !== 'assistant') choice['delta'] = { ...delta, role: 'assistant' };
    } else if (role !== undefined) delete delta['role'];
    this.#mendCitations(choice, choice['delta'] as JsonObject);
  }

  /** Of several lists of citations, clients keep the last one only, or fail on the second: there is one, with the end. */
  #mendCitations(choice: JsonObject, delta: JsonObject): void {
    const { index, finish_reason: reason } = choice;
    const { annotations } = delta;
    if (this.#ended.has(index)) return;
    if (Array.isArray(annotations) && annotations.length > 0) {
      const cited = this.#cited.get(index) ?? new Map<string, unknown>();
      for (const annotation of (annotations as unknown[]).slice(0, CITATIONS_MAX - cited.size))
        cited.set(JSON.stringify(annotation), annotation);
      this.#cited.set(index, cited);
      delete delta['annotations'];
    }
    if (typeof reason === 'string') Object.assign(delta, this.endOf(index));
  }
}

/** The same for a whole answer. */
export function mendReply(body: JsonObject, choices: readonly unknown[], context: ReplyContext): void {
  body['id'] = idOf(body['id'], context);
  body['created'] = timeOf(body['created'], context);
  body['object'] = 'chat.completion';
  mendTier(body, context);
  for (const choice of choices.filter(isObject)) {
    const message = choice['message'] as JsonObject;
    message['role'] = 'assistant';
    message['refusal'] ??= null;
    // Clients send the message back as it came, and no text at all is taken from them only beside something else.
    message['content'] ??= saysOtherwise(message) ? null : '';
    choice['logprobs'] ??= null;
    mendFinish(choice);
    // Whoever has a whole answer has its end.
    choice['finish_reason'] ??= hasToolCalls(message) ? 'tool_calls' : 'stop';
  }
}

/** Whether a message or a piece of one calls a tool: who is not told so may not run it. */
export function hasToolCalls(message: unknown): boolean {
  return isObject(message) && Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0;
}

/** An empty word is how some hosts say "not yet". */
function mendFinish(choice: JsonObject): void {
  const reason = choice['finish_reason'];
  if (reason === null || FINISH_REASONS.has(reason)) return;
  choice['finish_reason'] = typeof reason === 'string' && reason !== '' ? 'stop' : null;
}

/** A tier that the host calls something else is told as the caller asks for it. One that nobody knows is not told. */
function mendTier(body: JsonObject, { host }: ReplyContext): void {
  const { service_tier: tier } = body;
  if (tier === undefined || SERVICE_TIERS.has(tier)) return;
  const theirs = Object.entries(host?.request?.values?.['service_tier'] ?? {});
  const known = theirs.find(([, word]) => word === tier);
  if (known === undefined) delete body['service_tier'];
  else [body['service_tier']] = known;
}

function idOf(id: unknown, { requestId }: ReplyContext): string {
  return typeof id === 'string' && id !== '' ? id : `chatcmpl-${requestId}`;
}

function timeOf(created: unknown, { createdSeconds }: ReplyContext): number {
  return Number.isInteger(created) ? (created as number) : createdSeconds;
}
