import { isObject, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { refusal } from '../provider.ts';

const NAME_CHARACTERS_MAX = 128;

/** Returns a function name Google accepts: it starts with a letter or an underscore. */
export function encodeToolName(name: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_.:-]/g, '_');
  return (/^[A-Za-z_]/.test(clean) ? clean : `_${clean}`).slice(0, NAME_CHARACTERS_MAX);
}

/** A tool of the request, of either type. */
export interface Tool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly definition: JsonObject;
}

/** Returns the tools of a request that the caller runs itself. */
export function readTools(chat: ChatRequest): readonly Tool[] {
  const tools = Array.isArray(chat['tools']) ? chat['tools'].filter(isObject) : [];
  return tools.map((tool, index) => {
    const type = tool['type'] === 'custom' ? 'custom' : 'function';
    const definition = tool[type];
    if (!isObject(definition))
      throw refusal(`tools[${index}]`, `Tools of type '${String(tool['type'])}' cannot be used with this model. Use 'function'.`);
    return { type, name: String(definition['name']), definition };
  });
}

/** Finds the tool the model called. A tool the model made up is returned as a function of that name. */
export function findTool(chat: ChatRequest, encodedName: string): Pick<Tool, 'type' | 'name'> {
  const found = readTools(chat).find(({ name }) => encodeToolName(name) === encodedName);
  return found ?? { type: 'function', name: encodedName };
}
