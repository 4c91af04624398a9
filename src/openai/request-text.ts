import { countPairs, type JsonLayout } from '../http/json-layout.ts';
import { isObject, type JsonObject } from './types.ts';

/** A shorter request is written anew as quickly as it is copied. */
const CHARACTERS_MIN = 4096;

/**
 * A request as its caller wrote it. Long conversations are nearly all of a request, and to write them anew takes longer than all
 * else that is done with it: what did not change is copied instead.
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

  /** Undefined where there is nothing to gain, and where a name is there twice: then the text says more than was checked and priced. */
  static of(text: string, layout: JsonLayout, value: unknown): RequestText | undefined {
    if (text.length < CHARACTERS_MIN || !isObject(value) || layout.pairs !== countPairs(value)) return undefined;
    return new RequestText(text, layout, value);
  }

  /** Writes a body that was made from the request: the fields that still have the request's own values as the caller wrote them. */
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
