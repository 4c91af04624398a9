import type { SseEvent } from '../http/sse.ts';
import { parseExact } from '../openai/parse-exact.ts';
import { objectOf, objectsOf, textOf, type JsonObject, type WireUsage } from '../openai/types.ts';
import type { TokenUsage } from '../tokens.ts';
import { legacyCallId } from './call-ids.ts';
import type { DecodedReply, StreamDecoder } from './dialect.ts';

/** Converts a complete answer to the legacy tool format, which has room for one call. */
export function writeLegacyReply(reply: DecodedReply): DecodedReply {
  const carried = new Map<string, string>();
  const choices = objectsOf(reply.body['choices']).map((choice) => {
    const { tool_calls: calls, ...message } = objectOf(choice['message']);
    const [first] = objectsOf(calls);
    if (first === undefined) return choice;
    const call = objectOf(first['function']);
    keep(carried, reply.carried, first['id'], call);
    return { ...choice, message: { ...message, function_call: call }, finish_reason: legacyFinish(choice['finish_reason']) };
  });
  return { ...reply, body: { ...reply.body, choices }, carried };
}

/** Converts a stream to the legacy tool format: the first call is streamed, the others are left out. */
export class LegacyStream implements StreamDecoder {
  readonly #inner: StreamDecoder;
  #id: unknown;
  #name = '';
  #arguments = '';

  constructor(inner: StreamDecoder) {
    this.#inner = inner;
  }

  get wireUsage(): WireUsage | undefined {
    return this.#inner.wireUsage;
  }

  get usage(): TokenUsage | undefined {
    return this.#inner.usage;
  }

  get outputText(): string {
    return this.#inner.outputText;
  }

  get outputLength(): number {
    return this.#inner.outputLength ?? this.#inner.outputText.length;
  }

  get hasOutput(): boolean {
    return this.#inner.hasOutput;
  }

  get isComplete(): boolean {
    return this.#inner.isComplete;
  }

  get isDone(): boolean {
    return this.#inner.isDone;
  }

  get continuation(): string | undefined {
    return this.#inner.continuation;
  }

  get carried(): ReadonlyMap<string, string> {
    const carried = new Map<string, string>();
    keep(carried, this.#inner.carried, this.#id, { name: this.#name, arguments: this.#arguments });
    return carried;
  }

  push(event: SseEvent): readonly string[] {
    return this.#inner.push(event).flatMap((chunk) => this.#rewrite(chunk));
  }

  cut(): readonly string[] {
    return this.#inner.cut().flatMap((chunk) => this.#rewrite(chunk));
  }

  usageChunk(usage: WireUsage): string {
    return this.#inner.usageChunk(usage);
  }

  #rewrite(text: string): readonly string[] {
    const chunk = parseExact(text) as JsonObject;
    const choices = objectsOf(chunk['choices']);
    const rewritten = choices.flatMap((choice) => this.#rewriteChoice(choice) ?? []);
    if (choices.length > 0 && rewritten.length === 0) return [];
    return rewritten.every((choice, index) => choice === choices[index]) ? [text] : [JSON.stringify({ ...chunk, choices: rewritten })];
  }

  /** Returns the choice as it is sent, unless it holds nothing but a piece of a later call. */
  #rewriteChoice(choice: JsonObject): JsonObject | undefined {
    const { tool_calls: calls, ...delta } = objectOf(choice['delta']);
    if (Array.isArray(calls)) {
      const piece = this.#takePiece(objectsOf(calls));
      return piece === undefined ? undefined : { ...choice, delta: { ...delta, function_call: piece } };
    }
    const finish = choice['finish_reason'];
    return finish === 'tool_calls' ? { ...choice, finish_reason: legacyFinish(finish) } : choice;
  }

  /** Returns the piece of the first call. Its first piece names the call; the others add to its arguments. */
  #takePiece(calls: readonly JsonObject[]): JsonObject | undefined {
    const call = calls.find(({ index }) => index === 0);
    if (call === undefined) return undefined;
    const piece = objectOf(call['function']);
    this.#id ??= call['id'];
    this.#name += textOf(piece['name']);
    this.#arguments += textOf(piece['arguments']);
    return piece;
  }
}

function legacyFinish(finish: unknown): unknown {
  return finish === 'tool_calls' ? 'function_call' : finish;
}

/** Stores a value under the id that the call will get when the caller sends it back in the legacy format. */
function keep(carried: Map<string, string>, from: DecodedReply['carried'], id: unknown, call: JsonObject): void {
  const kept = from?.get(String(id));
  if (kept !== undefined) carried.set(legacyCallId(call), kept);
}
