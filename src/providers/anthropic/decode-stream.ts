import type { SseEvent } from '../../http/sse.ts';
import { isObject, objectOf, type FinishReason, type JsonObject, type WireUsage } from '../../openai/types.ts';
import type { TokenUsage } from '../../tokens.ts';
import { isCount } from '../../openai/usage.ts';
import { writeChunk, writeCitedChunk, writeUsageChunk } from '../write-answer.ts';
import { parseObject } from '../parse-object.ts';
import { ProviderFault, type ReplyContext, type StreamDecoder } from '../dialect.ts';
import { keepBlocks } from './carried.ts';
import { decodeFinish, decodeRefusal } from './decode-finish.ts';
import { toFault } from './decode-fault.ts';
import { TOOL_CALL_MARKER, isBlock, measureEarlier, withEarlier } from './decode-reply.ts';
import { decodeUsage, writeUsageOf } from './decode-usage.ts';
import type { Block } from './draft.ts';
import { OpenBlock, type StreamState } from './open-block.ts';
import { callerTools } from './tool-names.ts';

/** Decodes a stream: a message starts, its blocks arrive one after the other, and the message ends. */
export class MessageStream implements StreamDecoder {
  isDone = false;
  readonly #context: ReplyContext;
  readonly #state: StreamState;
  readonly #open = new Map<unknown, OpenBlock>();
  readonly #content: Block[] = [];
  #messageId: unknown;
  #model = '';
  #reported: JsonObject = {};
  #hasFinalUsage = false;
  #stopReason: string | undefined;
  #hasRole: boolean;
  #isFinished = false;

  constructor(context: ReplyContext) {
    this.#context = context;
    const tools = callerTools(context.chat);
    this.#state = { tools, output: '', ...measureEarlier(context, tools) };
    this.#hasRole = context.continuation !== undefined;
  }

  get outputText(): string {
    return this.#state.output;
  }

  get hasOutput(): boolean {
    return this.outputText !== '' || this.isComplete;
  }

  get isComplete(): boolean {
    return this.isDone || this.#stopReason !== undefined;
  }

  /** Undefined until the final count: the count at the start includes hardly any output. */
  get usage(): TokenUsage | undefined {
    return this.#hasFinalUsage ? decodeUsage(this.#reported) : undefined;
  }

  get wireUsage(): WireUsage | undefined {
    return writeUsageOf(this.usage, this.#reported);
  }

  get carried(): ReadonlyMap<string, string> {
    return keepBlocks(withEarlier(this.#content, this.#context), this.#model);
  }

  get continuation(): string | undefined {
    return this.#stopReason === 'pause_turn' ? JSON.stringify(withEarlier(this.#content, this.#context)) : undefined;
  }

  cut(): readonly string[] {
    return this.#isFinished ? [] : this.#finish('length');
  }

  usageChunk(usage: WireUsage): string {
    return writeUsageChunk(this.#context, usage);
  }

  push(event: SseEvent): readonly string[] {
    const payload = parseObject(event.data, TOOL_CALL_MARKER);
    const chunks = this.#decode(payload);
    // Clients fail if the first chunk has no role.
    if (this.#hasRole || chunks.length === 0) return chunks;
    this.#hasRole = true;
    return [this.#chunk({ role: 'assistant', content: '' }), ...chunks];
  }

  #decode(event: JsonObject): readonly string[] {
    switch (event['type']) {
      case 'message_start':
        return this.#start(objectOf(event['message']));
      case 'content_block_start':
        return isBlock(event['content_block']) ? this.#openBlock(event['index'], event['content_block']) : [];
      case 'content_block_delta':
        return this.#grow(event['index'], event['delta']);
      case 'content_block_stop':
        return this.#closeBlock(event['index']);
      case 'message_delta':
        return this.#end(event);
      case 'message_stop':
        return this.#stop();
      case 'error':
        throw toFault(isObject(event['error']) ? event['error'] : event);
      default:
        // Pings, and event types the provider may add later.
        return [];
    }
  }

  /** Handles the start of the message, which may come twice. The start of a different message would mix two answers. */
  #start({ id, model, usage, content }: JsonObject): readonly string[] {
    if (this.#messageId !== undefined && this.#messageId !== id)
      throw new ProviderFault('The provider started a second answer in one stream');
    if (this.#messageId !== undefined) return [];
    this.#messageId = id ?? null;
    this.#model = String(model);
    this.#count(usage);
    // Steps count instead of the totals, and these have hardly begun.
    delete this.#reported['iterations'];
    // An answer that resumes after the provider's own tools may start with complete blocks.
    const initial = (Array.isArray(content) ? content.filter(isBlock) : []).flatMap((block) => [
      ...this.#openBlock(INITIAL, block),
      ...this.#closeBlock(INITIAL),
    ]);
    if (this.#hasRole) return initial;
    this.#hasRole = true;
    return [this.#chunk({ role: 'assistant', content: '' }), ...initial];
  }

  #openBlock(index: unknown, block: Block): readonly string[] {
    const opened = new OpenBlock(block, this.#state);
    this.#open.set(index, opened);
    return this.#chunks(opened.begin());
  }

  #grow(index: unknown, delta: unknown): readonly string[] {
    if (!isObject(delta)) return [];
    const block = this.#open.get(index);
    if (block !== undefined) return this.#chunks(block.grow(delta));
    // Text is charged, so it is forwarded even if the start of its block never arrived.
    const type = TEXT_TYPES.get(delta['type']);
    return type === undefined ? [] : this.#openBlock(index, { type, [type]: delta[type] });
  }

  #closeBlock(index: unknown): readonly string[] {
    const block = this.#open.get(index);
    if (block === undefined) return [];
    this.#open.delete(index);
    const deltas = block.close();
    this.#content.push(block.whole);
    return this.#chunks(deltas);
  }

  /** Counts are running totals and null when unchanged: they replace earlier values and are never added up. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.#reported[name] = value;
  }

  #end({ delta, usage }: JsonObject): readonly string[] {
    this.#count(usage);
    this.#hasFinalUsage ||= isObject(usage) && isCount(usage['output_tokens']);
    const { stop_reason: reason, stop_details: details } = objectOf(delta);
    if (typeof reason !== 'string' || this.#stopReason !== undefined) return [];
    this.#stopReason = reason;
    // After a pause the rest follows in another stream, so the choice is not finished.
    if (reason === 'pause_turn') return this.#closeAll();
    const refusal = decodeRefusal(reason, details);
    return [...this.#closeAll(), ...(refusal === undefined ? [] : [this.#chunk({ refusal })]), ...this.#finishAsReported()];
  }

  #stop(): readonly string[] {
    this.isDone = true;
    return this.#stopReason === undefined ? [...this.#closeAll(), ...this.#finishAsReported()] : [];
  }

  /** Closes all open blocks: they end with the message. */
  #closeAll(): readonly string[] {
    return [...this.#open.keys()].flatMap((index) => this.#closeBlock(index));
  }

  #finishAsReported(): readonly string[] {
    return this.#finish(decodeFinish(this.#stopReason, this.#state.toolCallCount));
  }

  #finish(finish: FinishReason): readonly string[] {
    this.#isFinished = true;
    return [...writeCitedChunk(this.#context, this.#state.annotations), writeChunk(this.#context, {}, { finish })];
  }

  #chunks(deltas: readonly JsonObject[]): readonly string[] {
    return deltas.map((delta) => this.#chunk(delta));
  }

  #chunk(delta: JsonObject): string {
    return writeChunk(this.#context, delta);
  }
}

/** Block types that carry text, by the type of their deltas. */
const TEXT_TYPES: ReadonlyMap<unknown, 'text' | 'thinking'> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

/** The key for blocks that arrive with the message start and have no index. */
const INITIAL = Symbol('initial');
