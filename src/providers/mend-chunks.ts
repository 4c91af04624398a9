import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';
import type { ReplyContext } from './provider.ts';

/** The reasons to finish that clients know; they fail on any other. */
export const FINISH_REASONS: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * Keeps what clients are promised of a relayed stream, whoever wrote it: one identity, a role at the beginning of each
 * choice and only there, an index, a reason to finish that they know. A chunk that is in order is only looked at.
 */
export class ChunkMender {
  readonly #context: ReplyContext;
  readonly #begun = new Set<unknown>();
  #id: string | undefined;
  #created: number | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Changes a chunk in place. */
  mend(chunk: WireChunk, choices: readonly unknown[]): void {
    // Some hosts write the time of each chunk, and some an id only now and then.
    chunk.id = this.#id ??= idOf(chunk.id, this.#context);
    chunk.created = this.#created ??= timeOf(chunk.created, this.#context);
    chunk['object'] = 'chat.completion.chunk';
    for (let position = 0; position < choices.length; position += 1) {
      const choice = choices[position];
      if (isObject(choice)) this.#mendChoice(choice, position);
    }
  }

  #mendChoice(choice: JsonObject, position: number): void {
    if (!Number.isInteger(choice['index'])) choice['index'] = position;
    mendFinish(choice);
    if (!isObject(choice['delta'])) choice['delta'] = {};
    const delta = choice['delta'] as JsonObject;
    const { role } = delta;
    // Said once: some clients join whatever comes again, and end up with the role "assistantassistant".
    if (!this.#begun.has(choice['index'])) {
      this.#begun.add(choice['index']);
      if (role !== 'assistant') choice['delta'] = { ...delta, role: 'assistant' };
    } else if (role !== undefined) delete delta['role'];
  }
}

/** The same for a whole answer. */
export function mendReply(body: JsonObject, choices: readonly unknown[], context: ReplyContext): void {
  body['id'] = idOf(body['id'], context);
  body['created'] = timeOf(body['created'], context);
  body['object'] = 'chat.completion';
  choices.filter(isObject).forEach((choice, position) => {
    if (!Number.isInteger(choice['index'])) choice['index'] = position;
    const { message } = choice;
    if (isObject(message)) {
      message['role'] = 'assistant';
      message['content'] ??= null;
    }
    mendFinish(choice);
    // Whoever has a whole answer has its end.
    choice['finish_reason'] ??= 'stop';
  });
}

/** An empty word is how some hosts say "not yet". */
function mendFinish(choice: JsonObject): void {
  const reason = choice['finish_reason'];
  if (reason === null || FINISH_REASONS.has(reason)) return;
  choice['finish_reason'] = typeof reason === 'string' && reason !== '' ? 'stop' : null;
}

function idOf(id: unknown, { requestId }: ReplyContext): string {
  return typeof id === 'string' && id !== '' ? id : `chatcmpl-${requestId}`;
}

function timeOf(created: unknown, { createdSeconds }: ReplyContext): number {
  return Number.isInteger(created) ? (created as number) : createdSeconds;
}
