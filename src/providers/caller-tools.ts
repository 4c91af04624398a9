import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { isMarked } from './content.ts';
import { FieldNames } from './field-names.ts';
import { refusal } from './dialect.ts';

/** A tool that the caller runs: a function, or a custom tool, whose input is free text. */
export interface CallerTool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly definition: JsonObject;
  /** Its position in the request. */
  readonly param: string;
  readonly isCacheBreak: boolean;
}

/** Returns the tools the request offers. */
export function readTools(chat: ChatRequest): readonly CallerTool[] {
  return objectsOf(chat['tools']).map((tool, index): CallerTool => {
    const type = isObject(tool['custom']) ? 'custom' : 'function';
    const definition = tool[type];
    if (!isObject(definition))
      throw refusal(`tools[${index}]`, `Tools of type '${String(tool['type'])}' cannot be used with this model. Use 'function'.`);
    const isCacheBreak = isMarked(tool) || isMarked(definition);
    return { type, name: String(definition['name']), definition, param: `tools[${index}].${type}`, isCacheBreak };
  });
}

/** The tool that a model called. */
export type CalledTool = Pick<CallerTool, 'type' | 'name' | 'definition'>;

/** The caller's tools by the names under which a provider knows them. */
export class CallerTools {
  readonly #tools: ReadonlyMap<string, CalledTool>;
  readonly #fields = new Map<string, FieldNames>();

  /** `own` are tools that the dialect adds, by their names. */
  constructor(chat: ChatRequest, encodeToolName: (name: string) => string, own: ReadonlyMap<string, CalledTool> = new Map()) {
    this.#tools = new Map([...readTools(chat).map((tool) => [encodeToolName(tool.name), tool] as const), ...own]);
  }

  /** Returns the tool of this name. One that the model made up is a function. */
  find(encodedName: string): CalledTool {
    return this.#tools.get(encodedName) ?? { type: 'function', name: encodedName, definition: {} };
  }

  /** Returns the names of a tool's fields. */
  fieldsOf(encodedName: string): FieldNames {
    const fields = this.#fields.get(encodedName) ?? new FieldNames(this.find(encodedName).definition['parameters']);
    this.#fields.set(encodedName, fields);
    return fields;
  }
}

/** Writes a call, or its first piece, in the OpenAI dialect. */
export function writeCall(id: unknown, { type, name }: Pick<CalledTool, 'type' | 'name'>, given: string): JsonObject {
  return type === 'custom' ? { id, type, custom: { name, input: given } } : { id, type, function: { name, arguments: given } };
}
