import { COPIED_CHARACTERS_MIN, countPairs, type JsonLayout } from '../http/json-layout.ts';
import { isObject, type JsonObject } from './types.ts';

/**
 * A request as its client wrote it. Long conversations make up nearly all of a request, and writing them again takes longer than all
 * the other work on it. So unchanged fields are copied from the original text.
 */
export class RequestText {
  readonly #text: string;
  readonly #layout: JsonLayout;
  readonly #value: JsonObject;

  private constructor(text: string, layout: JsonLayout, value: JsonObject) {
    this.#text = text;
    this.#layout = layout;
    this.#value = value;
  }

  /**
   * Wraps a request. Returns undefined where copying gains nothing, and where a name appears twice: then the text says more than was
   * checked and priced.
   */
  static of(text: string, layout: JsonLayout, value: unknown): RequestText | undefined {
    if (text.length < COPIED_CHARACTERS_MIN || !isObject(value) || layout.pairs !== countPairs(value)) return undefined;
    return new RequestText(text, layout, value);
  }

  /** Writes a body derived from the request. Fields that still hold the request's own values are copied as the client wrote them. */
  write(body: JsonObject): string {
    let written = '';
    for (const name in body) {
      if (body[name] === undefined) continue;
      written += `${written === '' ? '{' : ','}${JSON.stringify(name)}:${this.#writeField(name, body[name])}`;
    }
    return written === '' ? '{}' : `${written}}`;
  }

  #writeField(name: string, value: unknown): string {
    const span = value === this.#value[name] ? this.#layout.fields.get(name) : undefined;
    return span === undefined ? JSON.stringify(value) : this.#text.slice(span.start, span.end);
  }
}
