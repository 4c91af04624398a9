import { isObject, objectOf, type FinishReason, type JsonObject, type WireUsage } from '../../openai/types.ts';
import { writeDetailedUsage } from '../../openai/usage.ts';
import type { SseEvent } from '../../http/sse.ts';
import type { TokenUsage } from '../../tokens.ts';
import { CallerTools, writeCall, type CalledTool } from '../caller-tools.ts';
import { readFreeJson } from '../custom-tools.ts';
import { writeChunk, writeCitedChunk, writeUsageChunk } from '../write-answer.ts';
import { parseJson } from '../parse-object.ts';
import type { ReplyContext, StreamDecoder } from '../dialect.ts';
import { keepReasoning } from './carried.ts';
import { decodeCitations } from './decode-citations.ts';
import { faultOfException } from './decode-fault.ts';
import { decodeFinish } from './decode-finish.ts';
import { encodeToolName } from './tool-names.ts';
import { decodeUsage } from './decode-usage.ts';

/** A tool call being streamed. */
interface OpenCall {
  readonly index: number;
  readonly tool: CalledTool;
  /** Gives the fields of the input their names back. */
  readonly decode: (piece: string | undefined) => string;
  input: string;
}

/** A block of reasoning being streamed. It is sent back whole, with its signature. */
interface OpenThought {
  text: string;
  signature: string | undefined;
  readonly redacted: Buffer[];
}

/** A text block with citations. Its end is known when it closes. */
interface OpenText {
  readonly start: number;
  readonly citations: JsonObject[];
}

/** Decodes the events of ConverseStream. Usage comes in a separate event, usually after the end of the message. */
export class ConverseStream implements StreamDecoder {
  wireUsage: WireUsage | undefined;
  usage: TokenUsage | undefined;
  outputText = '';
  isComplete = false;
  readonly carried = new Map<string, string>();
  readonly #context: ReplyContext;
  readonly #tools: CallerTools;
  readonly #calls = new Map<unknown, OpenCall>();
  readonly #thoughts = new Map<unknown, OpenThought>();
  readonly #texts = new Map<unknown, OpenText>();
  readonly #annotations: JsonObject[] = [];
  #signed: JsonObject[] = [];
  #textLength = 0;
  #callCount = 0;
  #hasStarted = false;
  #hasMetadata = false;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#tools = new CallerTools(context.chat, encodeToolName);
  }

  get hasOutput(): boolean {
    return this.outputText !== '' || this.isComplete;
  }

  get isDone(): boolean {
    return this.isComplete && this.#hasMetadata;
  }

  push(event: SseEvent): readonly string[] {
    if (event.name === 'exception') throw faultOfException(event.data);
    const body = objectOf(parseJson(event.data));
    switch (event.name ?? '') {
      case 'messageStart':
        return this.#start();
      case 'contentBlockStart':
        return this.#startBlock(body);
      case 'contentBlockDelta':
        return this.#growBlock(body);
      case 'contentBlockStop':
        return this.#stopBlock(body['contentBlockIndex']);
      case 'messageStop':
        return this.#stopMessage(body['stopReason']);
      case 'metadata':
        this.#hasMetadata = true;
        this.usage = decodeUsage(body['usage']);
        this.wireUsage = this.usage === undefined ? undefined : writeDetailedUsage(this.usage);
        return [];
      default:
        return [];
    }
  }

  cut(): readonly string[] {
    return this.isComplete ? [] : this.#finish('length');
  }

  usageChunk(usage: WireUsage): string {
    return writeUsageChunk(this.#context, usage);
  }

  /** Sends the role once, before everything else, even if the provider's start event is missing. */
  #start(): string[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [writeChunk(this.#context, { role: 'assistant', content: '', refusal: null })];
  }

  #write(delta: JsonObject): string[] {
    return [...this.#start(), writeChunk(this.#context, delta)];
  }

  #startBlock(body: JsonObject): string[] {
    const use = isObject(body['start']) ? body['start']['toolUse'] : undefined;
    if (!isObject(use) || use['type'] === 'server_tool_use') return [];
    const name = String(use['name']);
    const id = String(use['toolUseId']);
    const tool = this.#tools.find(name);
    const index = this.#callCount;
    this.#callCount += 1;
    this.#calls.set(body['contentBlockIndex'], { index, tool, decode: this.#tools.fieldsOf(name).decoder(), input: '' });
    if (this.#signed.length > 0) this.carried.set(id, keepReasoning(this.#signed, this.#context));
    this.#signed = [];
    this.outputText += name;
    return this.#write({ tool_calls: [{ index, ...writeCall(id, tool, '') }] });
  }

  #growBlock(body: JsonObject): string[] {
    const delta = objectOf(body['delta']);
    const { text, toolUse, reasoningContent, citation } = delta;
    const place = body['contentBlockIndex'];
    if (typeof text === 'string') return this.#writeText(place, text);
    if (isObject(citation)) this.#openText(place).citations.push(citation);
    if (isObject(reasoningContent)) return this.#think(place, reasoningContent);
    if (isObject(toolUse) && typeof toolUse['input'] === 'string') return this.#fillCall(place, toolUse['input']);
    return [];
  }

  #openText(place: unknown): OpenText {
    const open = this.#texts.get(place) ?? { start: this.#textLength, citations: [] };
    this.#texts.set(place, open);
    return open;
  }

  #writeText(place: unknown, text: string): string[] {
    this.#openText(place);
    this.#textLength += text.length;
    return this.#emit('content', text);
  }

  #emit(field: 'content' | 'reasoning_content', text: string): string[] {
    if (text === '') return [];
    this.outputText += text;
    return this.#write({ [field]: text });
  }

  #think(place: unknown, delta: JsonObject): string[] {
    const thought = this.#thoughts.get(place) ?? { text: '', signature: undefined, redacted: [] };
    this.#thoughts.set(place, thought);
    const { text, signature, redactedContent } = delta;
    if (typeof signature === 'string') thought.signature = (thought.signature ?? '') + signature;
    // Each piece is base64 on its own, so the texts cannot simply be joined.
    if (typeof redactedContent === 'string') thought.redacted.push(Buffer.from(redactedContent, 'base64'));
    if (typeof text !== 'string') return [];
    thought.text += text;
    return this.#emit('reasoning_content', text);
  }

  /** Adds to a call's input. The text of a custom tool is inside JSON, which is readable only when complete. */
  #fillCall(place: unknown, input: string): string[] {
    const call = this.#calls.get(place);
    if (call === undefined || input === '') return [];
    call.input += input;
    this.outputText += input;
    return call.tool.type === 'custom' ? [] : this.#writeInput(call, call.decode(input));
  }

  #stopBlock(place: unknown): string[] {
    this.#keepThought(this.#thoughts.get(place));
    this.#thoughts.delete(place);
    const cited = this.#texts.get(place);
    if (cited !== undefined) this.#annotations.push(...decodeCitations(cited, { start: cited.start, end: this.#textLength }));
    this.#texts.delete(place);
    const call = this.#calls.get(place);
    this.#calls.delete(place);
    if (call === undefined) return [];
    if (call.tool.type === 'custom')
      return this.#write({ tool_calls: [{ index: call.index, custom: { input: readFreeJson(call.input) } }] });
    // A tool without arguments gets no delta, but clients parse the arguments anyway.
    return this.#writeInput(call, call.input === '' ? '{}' : call.decode(undefined));
  }

  #writeInput({ index }: OpenCall, json: string): string[] {
    return json === '' ? [] : this.#write({ tool_calls: [{ index, function: { arguments: json } }] });
  }

  #keepThought(thought: OpenThought | undefined): void {
    if (thought === undefined) return;
    if (thought.redacted.length > 0) {
      this.#signed.push({ reasoningContent: { redactedContent: Buffer.concat(thought.redacted).toString('base64') } });
    } else if (thought.signature !== undefined) {
      this.#signed.push({ reasoningContent: { reasoningText: { text: thought.text, signature: thought.signature } } });
    }
  }

  #stopMessage(reason: unknown): string[] {
    if (this.isComplete) return [];
    const finish = decodeFinish(reason, this.#callCount > 0);
    this.isComplete = true;
    // Whatever is still open ends with the message.
    const open = [...this.#thoughts.keys(), ...this.#texts.keys(), ...this.#calls.keys()];
    return [...this.#start(), ...open.flatMap((place) => this.#stopBlock(place)), ...this.#finish(finish)];
  }

  #finish(finish: FinishReason): readonly string[] {
    return [...writeCitedChunk(this.#context, this.#annotations), writeChunk(this.#context, {}, { finish })];
  }
}
