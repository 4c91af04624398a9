import type { TokenUsage } from '../tokens.ts';
import {
  isObject,
  objectsOf,
  type ChatRequest,
  type FinishReason,
  type JsonObject,
  type WireChunk,
  type WireUsage,
} from '../openai/types.ts';
import { readUsage } from '../openai/usage.ts';
import type { Outbox } from '../http/outbox.ts';
import { formatEvent, type SseEvent } from '../http/sse.ts';
import { HOSTS, UNKNOWN_HOST } from './hosts.ts';
import { ChunkRepairer, completeChoices, hasToolCalls, isBlank, repairReply } from './repair-chunks.ts';
import { countMedia, OutputText, readOutput, writeMedia } from './output-text.ts';
import { parseObject } from './parse-object.ts';
import {
  ProviderFault,
  type DecodedReply,
  type Dialect,
  type ReplyContext,
  type StreamDecoder,
  type Target,
  type UpstreamRequest,
} from './dialect.ts';
import { readFault, refuseError, toFault } from './read-fault.ts';
import { ReplyQuirksReader } from './reply-quirks.ts';
import { applyRequestQuirks } from './request-quirks.ts';
import { splitChunk } from './split-chunk.ts';
import { findText } from './text-gap.ts';
import { TokenTaker } from './token-taker.ts';
import { stripUnpriced } from './unpriced.ts';

/**
 * The dialect the gateway itself speaks: requests and answers are relayed. The request sent is the one that was
 * validated and priced, with only the model and the usage option changed. In answers, only the model and the usage
 * change. Unknown fields survive in both directions.
 */
export const openai: Dialect = {
  encodeRequest,
  decodeReply,
  decodeStream: (context) => new RelayedStream(context),
  decodeFault: readFault,
  givesChoices: true,
};

function encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest {
  const body: JsonObject = { ...chat, model: target.model };
  // Always request usage: without it a stream cannot be charged exactly.
  if (chat.stream === true) body['stream_options'] = { ...chat.stream_options, include_usage: true };
  if (target.outputTokensMax !== undefined) body['max_tokens'] = target.outputTokensMax;
  const host = target.host ?? (target.baseUrl.includes('//api.openai.com/') ? HOSTS['openai'] : undefined);
  const unpriced = stripUnpriced(body, chat, target);
  const dropped = [...unpriced, ...(host === undefined ? [] : applyRequestQuirks(body, host, target.model))];
  return {
    ...(dropped.length === 0 ? {} : { dropped }),
    url: `${target.baseUrl}/chat/completions`,
    headers: {
      'content-type': 'application/json',
      accept: chat.stream === true ? 'text/event-stream' : 'application/json',
      ...(target.apiKey === undefined ? {} : { authorization: `Bearer ${target.apiKey}` }),
    },
    body: target.source === undefined ? JSON.stringify(body) : target.source.write(body),
  };
}

/** Where messages and deltas are, and where some hosts put them. A text is one of the older API for completions. */
const MESSAGE_PLACES = ['message', 'delta', 'text'];
const DELTA_PLACES = ['delta', 'message', 'text'];
/** After deltas, a message repeats what they said. */
const DELTA_ONLY = ['delta'];

function decodeReply(text: string, context: ReplyContext): DecodedReply {
  const body = parseObject(text);
  refuseError(body);
  const quirks = quirksOf(context);
  quirks.refuseError(body);
  const choices = objectsOf(body['choices']);
  if (choices.length === 0) throw new ProviderFault('The provider answered without choices');
  const usage = readUsage(quirks.readUsage(body), context.host);
  body['choices'] = choices;
  completeChoices(choices, MESSAGE_PLACES, context);
  quirks.readChoices(choices);
  let outputText = '';
  for (const { message } of choices) outputText += readOutput(message) + writeMedia(countMedia(message));
  // An answer with neither output nor a finish reason is not charged.
  if (outputText === '' && !choices.some((choice) => typeof choice['finish_reason'] === 'string'))
    throw new ProviderFault('The provider sent an empty answer');
  repairReply(body, choices, context);
  body['model'] = context.modelId;
  return { body, usage, outputText };
}

function quirksOf(context: ReplyContext): ReplyQuirksReader {
  return new ReplyQuirksReader(context.host ?? UNKNOWN_HOST, context);
}

class RelayedStream implements StreamDecoder {
  wireUsage: WireUsage | undefined;
  usage: TokenUsage | undefined;
  isDone = false;
  readonly #output = new OutputText();
  readonly #context: ReplyContext;
  readonly #quirks: ReplyQuirksReader;
  readonly #repairer: ChunkRepairer;
  readonly #finished = new Set<unknown>();
  readonly #unfinished = new Set<unknown>();
  readonly #calling = new Set<unknown>();
  readonly #tokens = new TokenTaker(this.#output);
  #hasChoices = false;
  #hasDeltas = false;
  #envelope: WireChunk = {};

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#quirks = quirksOf(context);
    this.#repairer = new ChunkRepairer(context);
  }

  get outputLength(): number {
    return this.#output.length;
  }

  get outputText(): string {
    return this.#output.read();
  }

  get hasOutput(): boolean {
    return this.#output.length > 0 || this.isComplete;
  }

  /** An end-of-stream marker makes up for a missing finish reason, but not for an answer without output. */
  get isComplete(): boolean {
    return (this.isDone && this.#output.length > 0) || (this.#hasChoices && this.#unfinished.size === 0);
  }

  takeTokens(bytes: Buffer, start: number, end: number, out: Outbox): number {
    return this.#tokens.take(bytes, start, end, out);
  }

  /** Parses, patches and rewrites a chunk. */
  push(event: SseEvent): readonly string[] {
    if (event.data.startsWith('[DONE]')) {
      this.isDone = true;
      // Without output the answer has failed, and a failed answer gets no finish reason.
      if (this.#output.length === 0) return [];
      return this.#finishAll((index) => ({
        delta: { ...this.#quirks.endOf(index), ...this.#repairer.endOf(index) },
        finish_reason: this.#calling.has(index) ? 'tool_calls' : 'stop',
      }));
    }
    // Some hosts keep an idle stream open with empty events.
    if (event.name !== 'error' && event.data.trim() === '') return [];
    const chunk: WireChunk = parseObject(event.data);
    if (event.name === 'error') throw toFault(isObject(chunk.error) ? chunk.error : chunk);
    refuseError(chunk);
    this.#quirks.refuseError(chunk);
    this.#readUsage(chunk);
    // Chunks without choices carry usage or a host's notes. Clients that index `choices[0]` must never see them.
    const choices = objectsOf(chunk.choices);
    if (choices.length === 0) return [];
    chunk.choices = choices;
    if (this.#context.choiceIndex !== undefined) becomeChoice(chunk, this.#context);
    this.#hasDeltas ||= choices.some(({ delta }) => isObject(delta));
    completeChoices(choices, this.#hasDeltas ? DELTA_ONLY : DELTA_PLACES, this.#context);
    this.#quirks.readChoices(choices);
    this.#repairer.repair(chunk, choices);
    for (const choice of choices) this.#watch(choice);
    if (this.#isAfterword(choices)) return [];
    this.#envelope = chunk;
    chunk.model = this.#context.modelId;
    if (this.#context.wantsUsage) chunk.usage = null;
    else delete chunk.usage;
    const written = splitChunk(chunk, choices).map((piece) => JSON.stringify(piece));
    this.#learn(event.data, written, chunk);
    return written;
  }

  /** True for a chunk that only repeats the end. The official client reports finished tool calls with every chunk after the end. */
  #isAfterword(choices: readonly JsonObject[]): boolean {
    return this.#finished.size > 0 && choices.every((choice) => this.#finished.has(choice['index']) && isBlank(choice));
  }

  /** Notes the form of a chunk that carries only text, since most later chunks look the same. */
  #learn(received: string, [written = '']: readonly string[], chunk: WireChunk): void {
    const gaps = this.#tokens.isLearning ? findText(chunk, received) : undefined;
    if (gaps === undefined || (gaps.field.startsWith('reasoning') && this.#quirks.repeatsReasoning)) this.#tokens.forget();
    else this.#tokens.learn(formatEvent(received), formatEvent(written), gaps);
  }

  usageChunk(usage: WireUsage): string {
    return JSON.stringify({ ...this.#envelope, choices: [], usage });
  }

  cut(): readonly string[] {
    return this.#finishAll((index) => ({ delta: this.#repairer.endOf(index), finish_reason: 'length' }));
  }

  /** Adds finish reasons that the provider left out: clients fail on a choice without one. */
  #finishAll(endOf: (index: unknown) => { readonly delta: JsonObject; readonly finish_reason: FinishReason }): string[] {
    return [...this.#unfinished].flatMap((index) => {
      const choices = [{ index, logprobs: null, ...endOf(index) }];
      return splitChunk({ ...this.#envelope, choices }, choices).map((piece) => JSON.stringify(piece));
    });
  }

  /** Reads usage from a separate chunk, the last chunk, or a running count in every chunk. The latest report counts. */
  #readUsage(chunk: WireChunk): void {
    const reported = this.#quirks.readUsage(chunk) ?? (isObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined);
    // An empty report is none, and an earlier one still counts.
    if (!isObject(reported) || Object.keys(reported).length === 0) return;
    this.usage = readUsage(reported, this.#context.host);
    this.wireUsage = this.usage === undefined ? undefined : (reported as WireUsage);
  }

  #watch(choice: JsonObject): void {
    this.#hasChoices = true;
    this.#output.add(readOutput(choice['delta']));
    this.#output.addMedia(countMedia(choice['delta']));
    const { index } = choice;
    if (hasToolCalls(choice['delta'])) this.#calling.add(index);
    if (typeof choice['finish_reason'] === 'string') {
      this.#finished.add(index);
      this.#unfinished.delete(index);
    } else if (!this.#finished.has(index)) {
      // Chunks after the end, such as content-filter notes, do not reopen a choice.
      this.#unfinished.add(index);
    }
  }
}

/** Gives a chunk the id and creation time that all choices of the combined answer share. */
function becomeChoice(chunk: WireChunk, { requestId, createdSeconds }: ReplyContext): void {
  chunk.id = `chatcmpl-${requestId}`;
  chunk.created = createdSeconds;
}
