import type { JsonObject } from '../../openai/types.ts';
import { readMarkedParts, readText, readToolCalls, type ToolCall } from '../content.ts';
import { parseExact } from '../../openai/parse-exact.ts';
import { UniqueCallIds } from '../call-ids.ts';
import { isThinking, recallBlocks } from './carried.ts';
import type { Block, Draft } from './draft.ts';
import { CACHE_BREAK, encodePart } from './encode-parts.ts';
import { encodeCallId, encodeToolName } from './tool-names.ts';

/** A turn of the conversation. Adjacent messages of one role are merged. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: Block[];
}

/** The conversation and the instructions before it. */
export interface Conversation {
  readonly system: Block[];
  readonly turns: Turn[];
  /** Whether earlier thinking is sent back with it. */
  readonly hasThinking: boolean;
}

/** Encodes the messages. Thinking is only sent back to a model that may think in this turn. */
export function encodeMessages(draft: Draft, { takesThinking }: { readonly takesThinking: boolean }): Conversation {
  const writer = new ConversationWriter(draft, takesThinking);
  draft.chat.messages.forEach((message, index) => writer.add(message, index));
  return writer.finish();
}

class ConversationWriter {
  readonly #draft: Draft;
  readonly #takesThinking: boolean;
  readonly #system: Block[] = [];
  readonly #turns: Turn[] = [];
  readonly #ids = new UniqueCallIds();

  constructor(draft: Draft, takesThinking: boolean) {
    this.#draft = draft;
    this.#takesThinking = takesThinking;
  }

  add(message: JsonObject, index: number): void {
    switch (message['role']) {
      case 'system':
      case 'developer':
        return this.#addInstruction(this.#encodeParts(message, index));
      case 'assistant':
        return this.#append('assistant', this.#encodeAssistant(message));
      case 'tool':
        return this.#append('user', [this.#encodeResult(message, index)]);
      default:
        return this.#append('user', orPlaceholder(this.#encodeParts(message, index)));
    }
  }

  finish(): Conversation {
    const { continuation } = this.#draft.target;
    // Instructions alone are not a conversation, so they become the user's message.
    const system = this.#turns.length === 0 ? [] : this.#system;
    if (this.#turns.length === 0) this.#append('user', orPlaceholder(this.#system));
    if (this.#turns[0]?.role === 'assistant') this.#turns.unshift({ role: 'user', content: orPlaceholder([]) });
    if (continuation !== undefined) this.#append('assistant', parseExact(continuation) as Block[]);
    const hasThinking = this.#turns.some(({ content }) => content.some(isThinking));
    return { system, turns: this.#turns, hasThinking };
  }

  #append(role: Turn['role'], content: readonly Block[]): void {
    if (content.length === 0) return;
    // Instructions between two user messages are refused, so these move before the conversation.
    if (role === 'user' && this.#turns.at(-1)?.role === 'system') this.#system.push(...(this.#turns.pop()?.content ?? []));
    const last = this.#turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.#turns.push({ role, content: [...content] });
  }

  /** Adds an instruction. Some models accept instructions mid-conversation, but only after a user message. */
  #addInstruction(blocks: readonly Block[]): void {
    const last = this.#turns.at(-1)?.role;
    if (this.#draft.capabilities.takesSystemTurns && (last === 'user' || last === 'system')) this.#append('system', blocks);
    else this.#system.push(...blocks);
  }

  #encodeParts(message: JsonObject, index: number): Block[] {
    const { takesUrls } = this.#draft.platform;
    return readMarkedParts(message).flatMap((part, place) =>
      encodePart(part, { param: `messages[${index}].content[${place}]`, takesUrls }),
    );
  }

  #encodeAssistant(message: JsonObject): Block[] {
    const calls = readToolCalls(message);
    const kept = calls.map(({ id }) => (this.#takesThinking ? recallBlocks(id, this.#draft.target) : []));
    // If the caller changed the text, its own text is sent, after the thinking and before the calls.
    const isAsSaid = readText(kept.flat()).trim() === readText(message['content']).trim();
    const text = isAsSaid && kept.flat().length > 0 ? [] : this.#encodeSaid(message);
    return calls.length === 0
      ? text
      : calls.flatMap((call, place) => [
          ...(kept[place] ?? []).filter(({ type }) => isAsSaid || type !== 'text'),
          ...(place === 0 ? text : []),
          this.#encodeCall(call),
        ]);
  }

  /** Encodes the assistant's text. Reasoning, in any of the clients' spellings, is not part of it. */
  #encodeSaid(message: JsonObject): Block[] {
    const { refusal } = message;
    const said = readMarkedParts(message).flatMap((part) => (part.type === 'text' ? encodePart(part, NO_POSITION) : []));
    return said.length === 0 && typeof refusal === 'string'
      ? encodePart({ type: 'text', text: refusal, isCacheBreak: false }, NO_POSITION)
      : said;
  }

  #encodeCall({ id, name, input }: ToolCall): Block {
    const encodedName = encodeToolName(name, this.#draft.chat);
    const fields = this.#draft.tools.fieldsOf(encodedName);
    return { type: 'tool_use', id: encodeCallId(this.#ids.forCall(id)), name: encodedName, input: fields.encodeInput(input) };
  }

  #encodeResult(message: JsonObject, index: number): Block {
    const blocks = this.#encodeParts(message, index);
    // The cache mark applies to the result as a whole.
    const isCacheBreak = blocks.some((block) => block['cache_control'] !== undefined);
    for (const block of blocks) delete block['cache_control'];
    return {
      type: 'tool_result',
      tool_use_id: encodeCallId(this.#ids.forResult(String(message['tool_call_id']))),
      ...(blocks.length === 0 ? {} : { content: blocks }),
      ...(isCacheBreak ? CACHE_BREAK : {}),
    };
  }
}

/** Text is never refused, so it needs no position. */
const NO_POSITION = { param: '', takesUrls: false };

/** Returns a placeholder for an empty turn, which would be refused. */
function orPlaceholder(blocks: readonly Block[]): Block[] {
  return blocks.length === 0 ? [{ type: 'text', text: '.' }] : [...blocks];
}
