import type { TokenUsage } from '../tokens.ts';
import { isObject, type ChatRequest, type JsonObject, type WireChunk, type WireUsage } from '../openai/types.ts';
import { readUsage } from '../openai/usage.ts';
import type { SseEvent } from '../http/sse.ts';
import type { FinishReason } from './envelope.ts';
import { ChunkTemplate } from './chunk-template.ts';
import { HOSTS, UNKNOWN_HOST } from './compatible.ts';
import { ChunkMender, completeChoices, hasToolCalls, mendReply } from './mend-chunks.ts';
import { countMedia, OutputText, readOutput, writeMedia } from './output-text.ts';
import { parseObject } from './parse-object.ts';
import {
  ProviderFault,
  type DecodedReply,
  type Provider,
  type ReplyContext,
  type StreamDecoder,
  type Target,
  type Tokens,
  type UpstreamRequest,
} from './provider.ts';
import { ReplyQuirksReader } from './reply-quirks.ts';
import { applyRequestQuirks } from './request-quirks.ts';
import { splitChunk } from './split-chunk.ts';
import { stripUnpriced } from './unpriced.ts';

/**
 * The dialect we speak ourselves: requests and answers are relayed. What was validated and priced is what is sent, with
 * only the model and the usage option changed; answers pass with only the model and the usage changed. Fields that we
 * do not know survive both ways.
 */
export const openai: Provider = {
  encodeRequest,
  decodeReply,
  decodeStream: (context) => new RelayedStream(context),
  givesChoices: true,
};

function encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest {
  const body: JsonObject = { ...chat, model: target.model };
  // Usage is always asked for: without it a stream could not be charged exactly.
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

function decodeReply(text: string, context: ReplyContext): DecodedReply {
  const body = parseObject(text);
  refuseError(body);
  const quirks = quirksOf(context);
  quirks.refuseError(body);
  const { choices } = body;
  if (!Array.isArray(choices) || choices.length === 0) throw new ProviderFault('The provider answered without choices');
  const usage = readUsage(quirks.readUsage(body), context.host);
  completeChoices(choices, 'message', context);
  quirks.readChoices(choices);
  let outputText = '';
  for (const choice of choices) {
    const message = isObject(choice) ? choice['message'] : undefined;
    outputText += readOutput(message) + writeMedia(countMedia(message));
  }
  // Nothing said and no word of why: such an answer is not charged.
  if (outputText === '' && !choices.some((choice) => isObject(choice) && typeof choice['finish_reason'] === 'string'))
    throw new ProviderFault('The provider answered with nothing');
  mendReply(body, choices, context);
  body['model'] = context.modelId;
  return { body, usage, outputText };
}

function quirksOf({ host = UNKNOWN_HOST, requestId }: ReplyContext): ReplyQuirksReader {
  return new ReplyQuirksReader(host, requestId);
}

/** A stream whose chunks are not alike after this many tries is parsed chunk by chunk. */
const TEMPLATES_MAX = 8;

class RelayedStream implements StreamDecoder {
  wireUsage: WireUsage | undefined;
  usage: TokenUsage | undefined;
  isDone = false;
  readonly #said = new OutputText();
  readonly #context: ReplyContext;
  readonly #quirks: ReplyQuirksReader;
  readonly #mender: ChunkMender;
  readonly #finished = new Set<unknown>();
  readonly #unfinished = new Set<unknown>();
  readonly #calling = new Set<unknown>();
  #hasChoices = false;
  #template: ChunkTemplate | undefined;
  #templatesMade = 0;
  #envelope: WireChunk = {};

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#quirks = quirksOf(context);
    this.#mender = new ChunkMender(context);
  }

  get outputLength(): number {
    return this.#said.length;
  }

  get outputText(): string {
    return this.#said.read();
  }

  get hasOutput(): boolean {
    return this.#said.length > 0 || this.isComplete;
  }

  /** A stream that says it is done is believed where a finish reason was forgotten, but not when it has said nothing. */
  get isComplete(): boolean {
    return (this.isDone && this.#said.length > 0) || (this.#hasChoices && this.#unfinished.size === 0);
  }

  takeTokens(bytes: Buffer, start: number, end: number): Tokens | undefined {
    const template = this.#template;
    if (template === undefined) return undefined;
    let text = '';
    let at = start;
    for (let token = template.match(bytes, at, end); token !== undefined; token = template.match(bytes, at, end)) {
      this.#said.add(token.text);
      text += template.write(token.text);
      at = token.end;
    }
    return at === start ? undefined : { text, end: at };
  }

  /** Parses, patches and writes a chunk. */
  push(event: SseEvent): readonly string[] {
    if (event.data.startsWith('[DONE]')) {
      this.isDone = true;
      // Nothing was said, so the answer has failed, and what failed has no reason to finish.
      if (this.#said.length === 0) return [];
      return this.#finishAll((index) => ({
        delta: { ...this.#quirks.endOf(index), ...this.#mender.endOf(index) },
        finish_reason: this.#calling.has(index) ? 'tool_calls' : 'stop',
      }));
    }
    // Some hosts keep a quiet stream open with events that say nothing.
    if (event.name !== 'error' && event.data.trim() === '') return [];
    const chunk: WireChunk = parseObject(event.data);
    if (event.name === 'error') throw toFault(isObject(chunk.error) ? chunk.error : chunk);
    refuseError(chunk);
    this.#quirks.refuseError(chunk);
    this.#readUsage(chunk);
    // Chunks without choices carry usage or a host's notes; callers that index `choices[0]` must never see them.
    if (!Array.isArray(chunk.choices) || chunk.choices.length === 0) return [];
    if (this.#context.choiceIndex !== undefined) becomeChoice(chunk, this.#context);
    completeChoices(chunk.choices, 'delta', this.#context);
    this.#quirks.readChoices(chunk.choices);
    this.#mender.mend(chunk, chunk.choices);
    for (const choice of chunk.choices) this.#watch(choice);
    this.#envelope = chunk;
    chunk.model = this.#context.modelId;
    if (this.#context.wantsUsage) chunk.usage = null;
    else delete chunk.usage;
    const written = splitChunk(chunk, chunk.choices).map((piece) => JSON.stringify(piece));
    const [only = ''] = written;
    this.#makeTemplate(event.data, only, chunk.choices);
    return written;
  }

  /** A chunk that says a bit of text and nothing else is what most of the others will look like. */
  #makeTemplate(came: string, written: string, choices: readonly unknown[]): void {
    if (this.#templatesMade >= TEMPLATES_MAX || choices.length !== 1) return;
    const [choice] = choices;
    if (!isObject(choice) || typeof choice['finish_reason'] === 'string' || !isObject(choice['delta'])) return;
    const names = Object.keys(choice['delta']);
    const { content } = choice['delta'];
    if (names.length !== 1 || typeof content !== 'string') return;
    this.#template = ChunkTemplate.from(came, written, content);
    this.#templatesMade += 1;
  }

  usageChunk(usage: WireUsage): string {
    return JSON.stringify({ ...this.#envelope, choices: [], usage });
  }

  cut(): readonly string[] {
    return this.#finishAll((index) => ({ delta: this.#mender.endOf(index), finish_reason: 'length' }));
  }

  /** Clients fail on a choice without a finish reason, so one that the provider forgot is added. */
  #finishAll(endOf: (index: unknown) => { readonly delta: JsonObject; readonly finish_reason: FinishReason }): string[] {
    return [...this.#unfinished].flatMap((index) => {
      const choices = [{ index, logprobs: null, ...endOf(index) }];
      return splitChunk({ ...this.#envelope, choices }, choices).map((piece) => JSON.stringify(piece));
    });
  }

  /** Usage may come in a chunk of its own, on the last chunk, or grow from chunk to chunk: the last one counts. */
  #readUsage(chunk: WireChunk): void {
    const reported = this.#quirks.readUsage(chunk) ?? (isObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined);
    if (!isObject(reported)) return;
    this.usage = readUsage(reported, this.#context.host);
    this.wireUsage = this.usage === undefined ? undefined : (reported as WireUsage);
  }

  #watch(choice: unknown): void {
    if (!isObject(choice)) return;
    this.#hasChoices = true;
    this.#said.add(readOutput(choice['delta']));
    this.#said.addMedia(countMedia(choice['delta']));
    const { index } = choice;
    if (hasToolCalls(choice['delta'])) this.#calling.add(index);
    if (typeof choice['finish_reason'] === 'string') {
      this.#finished.add(index);
      this.#unfinished.delete(index);
    } else if (!this.#finished.has(index)) {
      // What comes after the end, such as the notes of a content filter, does not open a choice again.
      this.#unfinished.add(index);
    }
  }
}

/** Makes a chunk one of a larger answer, whose choices share an id and a time. */
function becomeChoice(chunk: WireChunk, { requestId, createdSeconds }: ReplyContext): void {
  chunk.id = `chatcmpl-${requestId}`;
  chunk.created = createdSeconds;
}

/** An error inside a 200, or after some of the answer: in its place, where Groq puts it, or the whole body, as vLLM and Mistral have it. */
function refuseError(body: JsonObject): void {
  if (body['error'] === undefined && body['x_groq'] === undefined && body['object'] !== 'error') return;
  const ofGroq = isObject(body['x_groq']) ? body['x_groq']['error'] : undefined;
  const error = [body['error'], ofGroq, body['object'] === 'error' ? body : undefined].find(isReported);
  if (error !== undefined) throw toFault(isObject(error) ? error : { message: error, code: body['code'] });
  // Some SDKs would take an empty object for an error.
  if ('error' in body) delete body['error'];
}

/** Some hosts have an empty error in every answer. */
function isReported(error: unknown): boolean {
  return typeof error === 'object' && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

/**
 * Reads an error body of any host: wrapped in `error` or bare, with a string for an error, with a number for a code.
 * The HTTP status counts, unless that was 200: then it is whatever the body says, if anything.
 */
export function readFault(text: string, status: number | undefined): ProviderFault {
  const silent = new ProviderFault(status === undefined ? 'The provider sent no stream' : `The provider answered with status ${status}`, {
    status,
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return silent;
  }
  const body = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return silent;
  const error = body['error'] ?? body;
  const fault = toFault(isObject(error) ? error : { message: error, code: body['code'] });
  return new ProviderFault(fault.message, { status: status ?? fault.status, code: fault.code, param: fault.param });
}

/** How hosts say that a conversation is too long, most of them without OpenAI's code for it, by which clients shorten it. */
const TOO_LONG =
  /maximum (?:context|prompt) length|exceeds? the (?:available context size|context window|model's (?:maximum )?context)|longer than the model's context length|reduce the length of the messages|prompt is too long/iu;

/** What an error inside a 200 stands for that tells no status: its code counts before its type, which OpenAI gives to a wrong key as well. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['context_length_exceeded', 400],
  ['invalid_request_error', 400],
  ['BadRequestError', 400],
  ['invalid_api_key', 401],
  ['model_not_found', 404],
  ['insufficient_quota', 429],
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
]);

function toFault(error: JsonObject): ProviderFault {
  const { code, type, param } = error;
  const message = readMessage(error) ?? 'The provider reported an error';
  const word = TOO_LONG.test(message) ? 'context_length_exceeded' : typeof code === 'string' && !/^\d{3}$/.test(code) ? code : undefined;
  const told = [code, error['status_code'], error['status']].map(readStatus).find((status) => status !== undefined);
  return new ProviderFault(message, {
    status: told ?? STATUSES.get(word) ?? STATUSES.get(type),
    code: word,
    param: typeof param === 'string' ? param : undefined,
  });
}

function readStatus(value: unknown): number | undefined {
  const status = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return status >= 400 && status <= 599 ? status : undefined;
}

/** Hosts that check requests with FastAPI say `detail`, a text or a list of complaints, where others say `message`. */
function readMessage({ message, detail }: JsonObject): string | undefined {
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const texts = [message, detail, isObject(first) ? first['msg'] : undefined];
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}
