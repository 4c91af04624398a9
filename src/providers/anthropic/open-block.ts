import { isNestedTooDeep } from '../../openai/json-depth.ts';
import { isObject, textOf, type JsonObject } from '../../openai/types.ts';
import { parseExact } from '../../openai/parse-exact.ts';
import { writeCall, type CalledTool, type CallerTools } from '../caller-tools.ts';
import { readFreeJson } from '../custom-tools.ts';
import { decodeCitations } from './decode-citations.ts';
import type { Block } from './draft.ts';
import { ANSWER_TOOL } from './tool-names.ts';

/** State shared by the blocks of one stream. */
export interface StreamState {
  readonly tools: CallerTools;
  /** The length of the visible text so far, where the next citation starts. */
  textLength: number;
  output: string;
  /** The tool calls so far. Text and thinking are blocks too, but not calls. */
  toolCallCount: number;
  /** The citations of closed blocks. */
  readonly annotations: JsonObject[];
}

type Kind = 'text' | 'thinking' | 'answer' | CalledTool['type'] | 'other';

/** A block being streamed. It produces deltas for the caller and, in the end, the block as if it had arrived whole. */
export class OpenBlock {
  readonly #block: Record<string, unknown> & Block;
  readonly #state: StreamState;
  readonly #tool: CalledTool;
  readonly #kind: Kind;
  readonly #decode: (piece: string | undefined) => string;
  readonly #callIndex: number;
  readonly #textStart: number;
  #json = '';

  constructor(block: Block, state: StreamState) {
    this.#block = { ...block };
    this.#state = state;
    this.#tool = state.tools.find(String(block['name']));
    this.#kind = kindOf(block, this.#tool);
    this.#decode = state.tools.fieldsOf(String(block['name'])).decoder();
    this.#textStart = state.textLength;
    this.#callIndex = state.toolCallCount;
    if (this.#isCall) state.toolCallCount += 1;
  }

  /** The block itself, complete once closed. */
  get whole(): Block {
    return this.#block;
  }

  begin(): JsonObject[] {
    const { text, thinking, input } = this.#block;
    if (this.#kind === 'text') return this.#emit('content', text);
    if (this.#kind === 'thinking') return this.#emit('reasoning_content', thinking);
    const head = this.#isCall ? [this.#callHead()] : [];
    // Most inputs arrive in pieces, but some arrive at once.
    return isObject(input) && Object.keys(input).length > 0 ? [...head, ...this.#growInput(JSON.stringify(input))] : head;
  }

  grow(delta: JsonObject): JsonObject[] {
    switch (delta['type']) {
      case 'text_delta':
        this.#join('text', delta['text']);
        return this.#emit('content', delta['text']);
      case 'thinking_delta':
        this.#join('thinking', delta['thinking']);
        return this.#emit('reasoning_content', delta['thinking']);
      case 'signature_delta':
        this.#join('signature', delta['signature']);
        return [];
      case 'citations_delta':
        this.#block['citations'] = [...(Array.isArray(this.#block['citations']) ? this.#block['citations'] : []), delta['citation']];
        return [];
      case 'input_json_delta':
        return this.#growInput(delta['partial_json']);
      default:
        return [];
    }
  }

  close(): JsonObject[] {
    if ('input' in this.#block || this.#json !== '') this.#block['input'] = parseInput(this.#json);
    switch (this.#kind) {
      case 'text':
        this.#state.annotations.push(...decodeCitations(this.#block, this.#textStart));
        return [];
      case 'custom':
        return [this.#callDelta({ custom: { input: readFreeJson(this.#json) } })];
      case 'function':
      case 'answer':
        // A tool without arguments gets no pieces, but clients parse the arguments anyway.
        return this.#json === '' ? this.#growInput('{}') : this.#sendInput(this.#decode(undefined));
      case 'thinking':
      case 'other':
        return [];
    }
  }

  get #isCall(): boolean {
    return this.#kind === 'function' || this.#kind === 'custom';
  }

  #callHead(): JsonObject {
    this.#state.output += this.#tool.name;
    return this.#callDelta(writeCall(this.#block['id'], this.#tool, ''));
  }

  #growInput(json: unknown): JsonObject[] {
    if (typeof json !== 'string' || json === '') return [];
    this.#json += json;
    if (this.#isCall) this.#state.output += json;
    return this.#sendInput(this.#decode(json));
  }

  #sendInput(json: string): JsonObject[] {
    if (this.#kind === 'answer') return this.#emit('content', json);
    return this.#kind === 'function' && json !== '' ? [this.#callDelta({ function: { arguments: json } })] : [];
  }

  #callDelta(call: JsonObject): JsonObject {
    return { tool_calls: [{ index: this.#callIndex, ...call }] };
  }

  #emit(field: 'content' | 'reasoning_content', text: unknown): JsonObject[] {
    if (typeof text !== 'string' || text === '') return [];
    this.#state.output += text;
    if (field === 'content') this.#state.textLength += text.length;
    return [{ [field]: text }];
  }

  #join(field: 'text' | 'thinking' | 'signature', piece: unknown): void {
    this.#block[field] = textOf(this.#block[field]) + textOf(piece);
  }
}

function kindOf({ type, name }: Block, tool: CalledTool): Kind {
  if (type === 'text' || type === 'thinking') return type;
  if (type !== 'tool_use') return 'other';
  return name === ANSWER_TOOL ? 'answer' : tool.type;
}

/** Parses a tool's input. Input cut off at the output limit is not JSON and becomes an empty object; so does input nested too deeply. */
function parseInput(json: string): unknown {
  if (json === '' || isNestedTooDeep(json)) return {};
  try {
    return parseExact(json);
  } catch {
    return {};
  }
}
