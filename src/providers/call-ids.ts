import { createHash } from 'node:crypto';
import { textOf, type JsonObject } from '../openai/types.ts';

/**
 * Makes the ids of tool calls unique in a conversation. Some models and clients restart their numbering with every
 * answer, which not every provider accepts.
 */
export class UniqueCallIds {
  /** The ids as sent of the calls without a result, by the caller's id. Calls that share it are answered in their order. */
  readonly #open = new Map<string, string[]>();
  readonly #used = new Set<string>();
  /** The last number appended to each id. Counting from one for every call would take long with many of the same id. */
  readonly #numbers = new Map<string, number>();

  /** Returns the id for a call. */
  forCall(id: string): string {
    let unique = id;
    let number = this.#numbers.get(id) ?? 1;
    for (; this.#used.has(unique); unique = `${id}_${number}`) number += 1;
    this.#numbers.set(id, number);
    this.#used.add(unique);
    this.#open.set(id, [...(this.#open.get(id) ?? []), unique]);
    return unique;
  }

  /** Returns the id for the result of a call. */
  forResult(id: string): string {
    return this.#open.get(id)?.shift() ?? id;
  }
}

const SHORT_ID = /^[A-Za-z0-9]{9}$/u;

/**
 * Returns an id of nine letters and digits, the only form Mistral's models accept. The same id always maps to the same
 * short id, so a call and its result stay together. Ids are hashed rather than truncated, because other providers' ids
 * often share a prefix.
 */
export function shortToolId(id: string): string {
  return SHORT_ID.test(id) ? id : hashOf(id, 9);
}

/**
 * Returns an id of at most this many characters: some gateways put whole signatures into theirs. The same id always
 * maps to the same short one.
 */
export function boundedToolId(id: string, charactersMax: number): string {
  return id.length <= charactersMax ? id : `call_${hashOf(id, 24)}`;
}

/**
 * Derives an id for a legacy function call, which has none. It is a hash of the name and arguments, which callers send
 * back unchanged, so values kept for the call can be found again.
 */
export function legacyCallId({ name, arguments: given }: JsonObject): string {
  const plain = `${String(name)}\n${textOf(given)}`;
  return `function_call_${hashOf(plain, 24)}`;
}

function hashOf(text: string, characters: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, characters);
}
