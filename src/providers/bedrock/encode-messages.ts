import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import type { CallerTools } from '../caller-tools.ts';
import { namesOfToolCalls, readMarkedParts, readParts, readToolCalls, type ToolCall } from '../content.ts';
import type { Target } from '../dialect.ts';
import { shortToolId, UniqueCallIds } from '../call-ids.ts';
import type { CachePoints } from './cache-points.ts';
import type { Capabilities } from './capabilities.ts';
import { recallReasoning } from './carried.ts';
import { PartEncoder } from './encode-parts.ts';
import { encodeToolName } from './tool-names.ts';

/** A conversation in Converse's form: instructions apart, user and assistant turns alternating, the user first. */
export interface Conversation {
  readonly system: JsonObject[];
  readonly messages: Turn[];
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

interface Options {
  readonly capabilities: Capabilities;
  /** The tools, if any are offered. If not, earlier tool calls would be refused, so they are described as text. */
  readonly tools: CallerTools | undefined;
  readonly target: Target;
  readonly points: CachePoints;
  /** Whether the conversation may end with the beginning of the answer. */
  readonly takesPrefill: boolean;
}

/** The user turn that opens a conversation that would start with the assistant, or that consists only of instructions. */
const OPENING = { text: 'Begin.' };
/** The user turn for a model that cannot continue its own text. */
const CONTINUE = { text: 'Continue.' };
/** Results and documents must come with some text. */
const EMPTY_RESULT = { text: '(empty)' };
const DOCUMENT_TEXT = { text: 'See the attached file.' };

/** Encodes the messages of a request. */
export function encodeMessages(chat: ChatRequest, options: Options): Conversation {
  const system: JsonObject[] = [];
  const messages: Turn[] = [];
  const writer = new MessageWriter(chat, options);
  chat.messages.forEach((message, index) => {
    const param = `messages[${index}]`;
    const role = message['role'];
    if (role === 'system' || role === 'developer') system.push(...writer.writeParts(message, param));
    else if (role === 'assistant') append(messages, 'assistant', writer.writeAssistant(message, param));
    else if (role === 'tool') append(messages, 'user', writer.writeResult(message, param));
    else append(messages, 'user', writer.writeParts(message, param));
  });
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [OPENING] });
  // A model without system instructions gets them as the start of the conversation.
  if (!options.capabilities.hasSystem) messages[0]?.content.unshift(...system.splice(0));
  addTexts(messages);
  close(messages, options);
  return { system, messages };
}

/** Adds content, merging adjacent turns of one role. Empty content is skipped. */
function append(messages: Turn[], role: Turn['role'], content: JsonObject[]): void {
  const last = messages.at(-1);
  if (content.length === 0) return;
  if (last?.role === role) last.content.push(...content);
  else messages.push({ role, content });
}

function addTexts(messages: readonly Turn[]): void {
  for (const { content } of messages) {
    if (content.some((block) => 'document' in block) && !content.some((block) => 'text' in block)) content.push(DOCUMENT_TEXT);
  }
}

function close(messages: Turn[], { takesPrefill }: Options): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  // Only a cache point may follow the text.
  const end = last.content.findLast((block) => !('cachePoint' in block));
  if (!takesPrefill) messages.push({ role: 'user', content: [CONTINUE] });
  // A prefilled answer must not end in white space.
  else if (end !== undefined && typeof end['text'] === 'string') end['text'] = end['text'].trimEnd();
}

class MessageWriter {
  readonly #parts: PartEncoder;
  readonly #names: ReadonlyMap<string, string>;
  readonly #options: Options;
  readonly #ids = new UniqueCallIds();

  constructor(chat: ChatRequest, options: Options) {
    this.#parts = new PartEncoder(options.capabilities, options.points);
    this.#names = namesOfToolCalls(chat);
    this.#options = options;
  }

  writeParts(message: JsonObject, param: string): JsonObject[] {
    return this.#parts.encode(readMarkedParts(message), param);
  }

  /** Encodes text, then calls. Signed reasoning goes before the call it led to, and that of the first call before the text. */
  writeAssistant(message: JsonObject, param: string): JsonObject[] {
    const parts = readMarkedParts(message).filter(({ type }) => type === 'text');
    // A refused answer has its text in its own field.
    const said = parts.length === 0 ? readParts(message['refusal']) : parts;
    const text = this.#parts.encode(said, param);
    const calls = readToolCalls(message);
    const { tools } = this.#options;
    if (tools === undefined) {
      return [...text, ...calls.map(({ name, input }) => ({ text: `[called the tool ${name} with ${JSON.stringify(input)}]` }))];
    }
    const [first, ...others] = calls.map((call) => ({ reasoning: this.#recall(call), block: this.#writeCall(call, tools) }));
    if (first === undefined) return text;
    return [...first.reasoning, ...text, first.block, ...others.flatMap(({ reasoning, block }) => [...reasoning, block])];
  }

  /** Callers shorten and edit conversations, and Converse cannot be told to ignore thinking that no longer fits. */
  #recall({ id }: ToolCall): readonly JsonObject[] {
    return this.#options.capabilities.bindsThinking ? [] : recallReasoning(id, this.#options.target);
  }

  #writeCall({ id, name: ours, input: given }: ToolCall, tools: CallerTools): JsonObject {
    const name = encodeToolName(ours);
    const input = this.#options.capabilities.takesAnyField ? given : tools.fieldsOf(name).encodeInput(given);
    return { toolUse: { toolUseId: this.#toolId(this.#ids.forCall(id)), name, input } };
  }

  writeResult(message: JsonObject, param: string): JsonObject[] {
    const id = String(message['tool_call_id']);
    const parts = readMarkedParts(message);
    const unmarked = parts.map((part) => ({ ...part, isCacheBreak: false }));
    const content = this.#parts.encode(unmarked, param);
    if (content.length === 0) content.push(EMPTY_RESULT);
    const point = this.#options.points.afterResult(parts.some(({ isCacheBreak }) => isCacheBreak));
    if (this.#options.tools !== undefined) return [{ toolResult: { toolUseId: this.#toolId(this.#ids.forResult(id)), content } }, ...point];
    return [{ text: `[the tool ${this.#names.get(id) ?? id} answered:]` }, ...content, ...point];
  }

  #toolId(id: string): string {
    return this.#options.capabilities.hasShortToolIds ? shortToolId(id) : encodeToolName(id);
  }
}
