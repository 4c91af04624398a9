import { isObject, type JsonObject } from '../openai/types.ts';
import { legalName } from './legal-name.ts';
import { readStep } from './root-union.ts';

/** Claude refuses schemas with other field names, such as `$top`, `@id` or `first name`. */
const CHARACTERS_MAX = 64;
const encodeFieldName = legalName({ characters: 'A-Za-z0-9_.-', charactersMax: CHARACTERS_MAX });
/** The end of a text that may be a name, or part of one: longer values go on at once. */
const UNFINISHED_NAME = new RegExp(`"[\\w.-]{0,${CHARACTERS_MAX}}(?:"\\s*)?$`, 'u');

/** Keywords that hold schemas by name, and keywords that hold one schema or a list of them. */
const MAPS: ReadonlySet<string> = new Set('properties patternProperties dependentSchemas $defs definitions'.split(' '));
const SCHEMAS: ReadonlySet<string> = new Set(
  `items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties anyOf oneOf allOf not if
  then else`.split(/\s+/u),
);

/** The fields of one schema that get other names, at any depth. As a rule there are none, and everything stays as it is. */
export class FieldNames {
  readonly #encoded = new Map<string, string>();
  readonly #decoded = new Map<string, string>();

  constructor(schema: unknown) {
    this.#collect(schema);
  }

  /** Renames the fields of the schema. The caller's name becomes the title, so that the model knows what a field means. */
  encodeSchema(schema: JsonObject): JsonObject {
    return this.#encoded.size === 0 ? schema : this.#renameSchema(schema);
  }

  /** Renames the fields of an input. */
  encodeInput(input: JsonObject): JsonObject {
    return this.#encoded.size === 0 ? input : this.#renameInput(input);
  }

  /**
   * Returns the text of an input with the caller's names. It may be cut off: the text is not parsed, because names in quotes
   * before a colon can only be names of fields.
   */
  decode(json: string): string {
    if (this.#decoded.size === 0) return json;
    return json.replaceAll(/"([\w.-]+)"(?=\s*:)/gu, (quoted, name: string) => {
      const ours = this.#decoded.get(name);
      return ours === undefined ? quoted : JSON.stringify(ours);
    });
  }

  /** Returns a function that decodes an input in pieces. The end is held back while it may be part of a name; no piece releases it. */
  decoder(): (piece: string | undefined) => string {
    let held = '';
    return (piece) => {
      if (this.#decoded.size === 0) return piece ?? '';
      const text = held + (piece ?? '');
      const start = piece === undefined ? -1 : text.search(UNFINISHED_NAME);
      held = start === -1 ? '' : text.slice(start);
      return this.decode(start === -1 ? text : text.slice(0, start));
    };
  }

  #collect(schema: unknown): void {
    if (Array.isArray(schema)) for (const each of schema) this.#collect(each);
    if (!isObject(schema)) return;
    for (const [keyword, value] of Object.entries(schema)) {
      if (SCHEMAS.has(keyword)) this.#collect(value);
      if (!MAPS.has(keyword) || !isObject(value)) continue;
      if (keyword === 'properties') Object.keys(value).forEach((name) => this.#add(name));
      for (const inner of Object.values(value)) this.#collect(inner);
    }
  }

  #add(name: string): void {
    const encoded = encodeFieldName(name);
    if (encoded === name) return;
    this.#encoded.set(name, encoded);
    this.#decoded.set(encoded, name);
  }

  #rename(name: string): string {
    return this.#encoded.get(name) ?? name;
  }

  #renameSchema(schema: JsonObject): JsonObject {
    return mapEntries(schema, (keyword, value) => [keyword, this.#renameKeyword(keyword, value)]);
  }

  #renameKeyword(keyword: string, value: unknown): unknown {
    if (SCHEMAS.has(keyword)) return Array.isArray(value) ? value.map((each) => this.#renameNode(each)) : this.#renameNode(value);
    if (keyword === 'required' && Array.isArray(value)) return this.#renameList(value);
    if (keyword === '$ref' && typeof value === 'string') return this.#renameReference(value);
    if (!isObject(value)) return value;
    if (keyword === 'properties') return mapEntries(value, (name, inner) => [this.#rename(name), this.#renameField(name, inner)]);
    if (keyword === 'dependentSchemas') return mapEntries(value, (name, inner) => [this.#rename(name), this.#renameNode(inner)]);
    if (keyword === 'dependentRequired') return mapEntries(value, (name, list) => [this.#rename(name), this.#renameList(list)]);
    return MAPS.has(keyword) ? mapEntries(value, (name, inner) => [name, this.#renameNode(inner)]) : value;
  }

  #renameNode(node: unknown): unknown {
    return isObject(node) ? this.#renameSchema(node) : node;
  }

  #renameField(name: string, field: unknown): unknown {
    const renamed = this.#renameNode(field);
    return isObject(renamed) && this.#encoded.has(name) ? { title: name, ...renamed } : renamed;
  }

  #renameList(names: unknown): unknown {
    return Array.isArray(names) ? names.map((name: unknown) => (typeof name === 'string' ? this.#rename(name) : name)) : names;
  }

  /** A reference may lead through a field: `#/properties/$top`. */
  #renameReference(reference: string): string {
    const steps = reference.split('/');
    return steps.map((step, index) => (steps[index - 1] === 'properties' ? (this.#encoded.get(readStep(step)) ?? step) : step)).join('/');
  }

  #renameInput(input: JsonObject): JsonObject {
    return mapEntries(input, (name, value) => [this.#rename(name), this.#renameValue(value)]);
  }

  #renameValue(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#renameValue(each));
    // A number with many digits is an object too, but a frozen one.
    return isObject(value) && !Object.isFrozen(value) ? this.#renameInput(value) : value;
  }
}

function mapEntries(object: JsonObject, map: (name: string, value: unknown) => readonly [string, unknown]): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => map(name, value)));
}
