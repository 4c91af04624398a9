/**
 * Makes the ids of tool calls unique in a conversation. Some models and clients restart their numbering with every
 * answer, which not every provider accepts.
 */
export class UniqueCallIds {
  /** The id as sent, by the caller's id, which refers to the latest call. */
  readonly #latest = new Map<string, string>();
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
    this.#latest.set(id, unique);
    return unique;
  }

  /** Returns the id for the result of a call. */
  forResult(id: string): string {
    return this.#latest.get(id) ?? id;
  }
}
