import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { isMarked } from './content.ts';
import { refusal } from './provider.ts';

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
export type CalledTool = Pick<CallerTool, 'type' | 'name'>;

/** Finds the caller's tools by the names under which a provider knows them. */
export class CalledTools {
  readonly #tools: ReadonlyMap<string, CallerTool>;

  constructor(chat: ChatRequest, encodeToolName: (name: string) => string) {
    this.#tools = new Map(readTools(chat).map((tool) => [encodeToolName(tool.name), tool]));
  }

  /** Returns the tool of this name. One that the model made up is a function. */
  find(encodedName: string): CalledTool {
    return this.#tools.get(encodedName) ?? { type: 'function', name: encodedName };
  }
}

/** Writes a call, or its first piece, in the OpenAI dialect. */
export function writeCall(id: unknown, { type, name }: CalledTool, given: string): JsonObject {
  return type === 'custom' ? { id, type, custom: { name, input: given } } : { id, type, function: { name, arguments: given } };
}
