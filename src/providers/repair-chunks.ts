import { hasOtherContent } from '../openai/check-messages.ts';
import { filledText, isObject, type JsonObject, type WireChunk } from '../openai/types.ts';
import type { ReplyContext } from './dialect.ts';

/** The finish reasons clients know. They fail on any other. */
export const FINISH_REASONS: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
/** The service tiers clients know. Strictly typed clients fail on any other. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set([null, 'auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** The end of the times in seconds that clients can read: some keep them in 32 bits, which last until 2106. */
const SECONDS_END = 2 ** 32;

/** The most citations kept per choice until the end of the answer. The rest are dropped. */
const CITATIONS_MAX = 1000;

/**
 * Fills in what hosts leave out, before anything else is read: the index of a choice, and its delta or message.
 * (Azure's content-filter notes have no delta, for one.) A final chunk without a delta may still have tool calls to
 * complete, and generated tool-call ids contain the choice index. The delta or message belongs in the first of `places`,
 * and some hosts put it into another.
 */
export function completeChoices(choices: readonly JsonObject[], places: readonly string[], context: ReplyContext): void {
  const [field = ''] = places;
  const { choiceIndex, chat } = context;
  let position = -1;
  for (const choice of choices) {
    position += 1;
    const { index } = choice;
    // Clients fail on a choice that they did not ask for, or leave it out.
    const isAsked = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < (chat.n ?? 1);
    choice['index'] = choiceIndex ?? (isAsked ? index : position);
    if (!isObject(choice[field])) choice[field] = takeFrom(choice, places);
  }
}

function takeFrom(choice: JsonObject, places: readonly string[]): JsonObject {
  for (const place of places) {
    const { [place]: said } = choice;
    if (!isObject(said) && typeof said !== 'string') continue;
    delete choice[place];
    return isObject(said) ? said : { content: said };
  }
  return {};
}

/**
 * Keeps the guarantees that clients get for a relayed stream, whatever the host sent: one id and creation time, the
 * role at the start of each choice and only there, a single list of citations, one known finish reason. A well-formed
 * chunk is only inspected.
 */
export class ChunkRepairer {
  readonly #context: ReplyContext;
  readonly #started = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  /** The citations of each choice, held until its end. Each is kept once: templates skip those that repeat in every chunk. */
  readonly #cited = new Map<unknown, Map<string, unknown>>();
  #id: string | undefined;
  #created: number | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Patches a chunk in place. */
  repair(chunk: WireChunk, choices: readonly JsonObject[]): void {
    // Some hosts put the current time on each chunk, and some send an id only now and then.
    chunk.id = this.#id ??= idOf(chunk.id, this.#context);
    chunk.created = this.#created ??= timeOf(chunk.created, this.#context);
    chunk['object'] = 'chat.completion.chunk';
    repairTier(chunk, this.#context);
    for (const choice of choices) this.#repairChoice(choice);
  }

  /** Returns what belongs in the last delta of a choice: all its citations. */
  endOf(index: unknown): JsonObject {
    this.#ended.add(index);
    const cited = this.#cited.get(index);
    return cited === undefined ? {} : { annotations: [...cited.values()] };
  }

  #repairChoice(choice: JsonObject): void {
    repairFinish(choice);
    // A second end is none: some clients join the reasons ("stopstop"), and some report finished tool calls again.
    if (this.#ended.has(choice['index'])) choice['finish_reason'] = null;
    const delta = choice['delta'] as JsonObject;
    const { role } = delta;
    // Sent once: some clients concatenate repeated fields and end up with the role "assistantassistant".
    if (!this.#started.has(choice['index'])) {
      this.#started.add(choice['index']);
      if (role !== 'assistant') choice['delta'] = { ...delta, role: 'assistant' };
      // An answer that never gets to its text would otherwise have none, which is refused when clients send it back.
      if (!hasOtherContent(delta)) (choice['delta'] as JsonObject)['content'] ??= '';
    } else if (role !== undefined) delete delta['role'];
    this.#repairCitations(choice, choice['delta'] as JsonObject);
  }

  /**
   * Collects citations into one list that is sent with the end of the choice: given several lists, clients keep only
   * the last one or fail on the second.
   */
  #repairCitations(choice: JsonObject, delta: JsonObject): void {
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

/** Gives the same guarantees for a complete answer. */
export function repairReply(body: JsonObject, choices: readonly JsonObject[], context: ReplyContext): void {
  body['id'] = idOf(body['id'], context);
  body['created'] = timeOf(body['created'], context);
  body['object'] = 'chat.completion';
  repairTier(body, context);
  for (const choice of choices) {
    const message = choice['message'] as JsonObject;
    message['role'] = 'assistant';
    message['refusal'] ??= null;
    // Clients send the message back as received, and providers accept missing text only next to something else.
    message['content'] ??= hasOtherContent(message) ? null : '';
    choice['logprobs'] ??= null;
    repairFinish(choice);
    // A complete answer always has an end.
    choice['finish_reason'] ??= hasToolCalls(message) ? 'tool_calls' : 'stop';
  }
}

/** True when a message or delta calls a tool. Without the matching finish reason a client may not run it. */
export function hasToolCalls(message: unknown): boolean {
  return isObject(message) && Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0;
}

const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'delta', 'logprobs', 'finish_reason']);

/** True for the choice of a chunk with nothing in it: no piece of the answer, no end, no field of the host's own. */
export function isBlank(choice: JsonObject): boolean {
  if (choice['finish_reason'] !== null || !isObject(choice['delta'])) return false;
  return (
    Object.keys(choice).every((name) => CHOICE_FIELDS.has(name)) &&
    Object.values(choice['delta']).every((value) => value === '' || value === null)
  );
}

/** Normalises the finish reason. Some hosts send an empty string for "not yet". */
function repairFinish(choice: JsonObject): void {
  const reason = choice['finish_reason'];
  if (reason === null || FINISH_REASONS.has(reason)) return;
  choice['finish_reason'] = typeof reason === 'string' && reason !== '' ? 'stop' : null;
}

/** Translates a host-specific service tier back into the caller's term, and drops an unknown one. */
function repairTier(body: JsonObject, { host }: ReplyContext): void {
  const { service_tier: tier } = body;
  if (tier === undefined || SERVICE_TIERS.has(tier)) return;
  const theirs = Object.entries(host?.request?.values?.['service_tier'] ?? {});
  const known = theirs.find(([, word]) => word === tier);
  if (known === undefined) delete body['service_tier'];
  else [body['service_tier']] = known;
}

function idOf(id: unknown, { requestId }: ReplyContext): string {
  return filledText(id) ?? `chatcmpl-${requestId}`;
}

/** Returns the host's time if it is one. Some hosts send milliseconds, which strictly typed clients fail on. */
function timeOf(created: unknown, { createdSeconds }: ReplyContext): number {
  const isTime = typeof created === 'number' && Number.isInteger(created) && created >= 0 && created < SECONDS_END;
  return isTime ? created : createdSeconds;
}
