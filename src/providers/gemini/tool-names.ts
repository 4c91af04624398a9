import { isObject, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { refusal } from '../provider.ts';

const NAME_CHARACTERS_MAX = 128;

/** A function's name as Google takes it: it begins with a letter or an underscore. */
export function encodeToolName(name: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_.:-]/g, '_');
  return (/^[A-Za-z_]/.test(clean) ? clean : `_${clean}`).slice(0, NAME_CHARACTERS_MAX);
}

/** A tool of the request, whichever kind it is. */
export interface Tool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly definition: JsonObject;
}

/** The tools of a request that the caller runs itself. */
export function readTools(chat: ChatRequest): readonly Tool[] {
  const tools = Array.isArray(chat['tools']) ? chat['tools'].filter(isObject) : [];
  return tools.map((tool, index) => {
    const type = tool['type'] === 'custom' ? 'custom' : 'function';
    const definition = tool[type];
    if (!isObject(definition))
      throw refusal(`tools[${index}]`, `Tools of type '${String(tool['type'])}' cannot be used with this model; use 'function'.`);
    return { type, name: String(definition['name']), definition };
  });
}

/** The tool that the model means. One that it made up is called a function by the name it gave. */
export function findTool(chat: ChatRequest, encodedName: string): Pick<Tool, 'type' | 'name'> {
  const found = readTools(chat).find(({ name }) => encodeToolName(name) === encodedName);
  return found ?? { type: 'function', name: encodedName };
}
