import type { SseEvent } from '../../http/sse.ts';
import { isObject, type JsonObject, type WireUsage } from '../../openai/types.ts';
import type { TokenUsage } from '../../tokens.ts';
import { isCount } from '../../openai/usage.ts';
import { writeChunk, writeCitedChunk, writeUsageChunk, type FinishReason } from '../envelope.ts';
import { parseObject } from '../parse-object.ts';
import { ProviderFault, type ReplyContext, type StreamDecoder } from '../provider.ts';
import { keepBlocks } from './carried.ts';
import { decodeFinish, decodeRefusal } from './decode-content.ts';
import { toFault } from './decode-fault.ts';
import { CALL_SIGN, isBlock, measureEarlier, withEarlier } from './decode-reply.ts';
import { decodeUsage, writeUsageOf } from './decode-usage.ts';
import type { Block } from './draft.ts';
import { OpenBlock, type Progress } from './open-block.ts';
import { ToolNames } from './tool-names.ts';

/** Reads a stream: a message that opens, blocks that grow one after the other, and a message that closes. */
export class MessageStream implements StreamDecoder {
  isDone = false;
  readonly #context: ReplyContext;
  readonly #progress: Progress;
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
    const names = new ToolNames(context.chat);
    this.#progress = { names, output: '', ...measureEarlier(context, names) };
    this.#hasRole = context.continuation !== undefined;
  }

  get outputText(): string {
    return this.#progress.output;
  }

  get hasOutput(): boolean {
    return this.outputText !== '' || this.isComplete;
  }

  get isComplete(): boolean {
    return this.isDone || this.#stopReason !== undefined;
  }

  /** The count at the start has hardly any output in it: it is no usage before the end has corrected it. */
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
    const payload = parseObject(event.data, CALL_SIGN);
    const chunks = this.#decode(payload);
    // Clients fail on a stream whose first chunk names no role.
    if (this.#hasRole || chunks.length === 0) return chunks;
    this.#hasRole = true;
    return [this.#chunk({ role: 'assistant', content: '' }), ...chunks];
  }

  #decode(event: JsonObject): readonly string[] {
    switch (event['type']) {
      case 'message_start':
        return this.#start(isObject(event['message']) ? event['message'] : {});
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
        // Pings, and whatever the provider adds one day.
        return [];
    }
  }

  /** The start may come twice; the start of another message would mix two answers. */
  #start({ id, model, usage, content }: JsonObject): readonly string[] {
    if (this.#messageId !== undefined && this.#messageId !== id)
      throw new ProviderFault('The provider began a second answer in one stream');
    if (this.#messageId !== undefined) return [];
    this.#messageId = id ?? null;
    this.#model = String(model);
    this.#count(usage);
    // An answer that goes on where tools of the provider's left off may begin with blocks that are whole.
    const begun = (Array.isArray(content) ? content.filter(isBlock) : []).flatMap((block) => [
      ...this.#openBlock(BEGUN, block),
      ...this.#closeBlock(BEGUN),
    ]);
    if (this.#hasRole) return begun;
    this.#hasRole = true;
    return [this.#chunk({ role: 'assistant', content: '' }), ...begun];
  }

  #openBlock(index: unknown, block: Block): readonly string[] {
    const opened = new OpenBlock(block, this.#progress);
    this.#open.set(index, opened);
    return this.#chunks(opened.begin());
  }

  #grow(index: unknown, delta: unknown): readonly string[] {
    if (!isObject(delta)) return [];
    const block = this.#open.get(index);
    if (block !== undefined) return this.#chunks(block.grow(delta));
    // Words are charged, so they are told, also when the beginning of their block did not come.
    const type = WORDS.get(delta['type']);
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

  /** Counts are totals so far and may be null where nothing is new: they replace what was known, and are never added. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.#reported[name] = value;
  }

  #end({ delta, usage }: JsonObject): readonly string[] {
    this.#count(usage);
    this.#hasFinalUsage ||= isObject(usage) && isCount(usage['output_tokens']);
    const { stop_reason: reason, stop_details: details } = isObject(delta) ? delta : {};
    if (typeof reason !== 'string' || this.#stopReason !== undefined) return [];
    this.#stopReason = reason;
    // After a pause the rest follows in another stream, so nothing is finished.
    if (reason === 'pause_turn') return this.#closeAll();
    const refusal = decodeRefusal(reason, details);
    return [...this.#closeAll(), ...(refusal === undefined ? [] : [this.#chunk({ refusal })]), ...this.#finishAsTold()];
  }

  #stop(): readonly string[] {
    this.isDone = true;
    return this.#stopReason === undefined ? [...this.#closeAll(), ...this.#finishAsTold()] : [];
  }

  /** What is still open is over with the message. */
  #closeAll(): readonly string[] {
    return [...this.#open.keys()].flatMap((index) => this.#closeBlock(index));
  }

  #finishAsTold(): readonly string[] {
    return this.#finish(decodeFinish(this.#stopReason, this.#progress.toolCallCount));
  }

  #finish(finish: FinishReason): readonly string[] {
    this.#isFinished = true;
    return [...writeCitedChunk(this.#context, this.#progress.annotations), writeChunk(this.#context, {}, { finish })];
  }

  #chunks(deltas: readonly JsonObject[]): readonly string[] {
    return deltas.map((delta) => this.#chunk(delta));
  }

  #chunk(delta: JsonObject): string {
    return writeChunk(this.#context, delta);
  }
}

/** The kinds of blocks that say something, by what they grow by. */
const WORDS: ReadonlyMap<unknown, 'text' | 'thinking'> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

/** The place of blocks that came with the start, which have no index. */
const BEGUN = Symbol('begun');
