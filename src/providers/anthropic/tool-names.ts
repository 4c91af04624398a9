import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { isMarked, namesOfToolCalls } from '../content.ts';

/** The tool through which a model answers in JSON where it cannot be held to a schema otherwise. Callers never see it. */
export const ANSWER_TOOL = 'answer_in_json';

/** One of the caller's tools. */
export interface CallerTool {
  readonly type: string;
  readonly definition: JsonObject;
  /** Where it stands in the request. */
  readonly param: string;
  readonly isCacheBreak: boolean;
}

/** The tools that the request offers. */
export function readTools(chat: ChatRequest): readonly CallerTool[] {
  return objectsOf(chat['tools']).map((tool, index): CallerTool => {
    const type = String(tool['type']);
    const definition = isObject(tool[type]) ? tool[type] : {};
    return {
      type,
      definition,
      param: `tools[${index}].${type}`,
      isCacheBreak: isMarked(tool) || isMarked(definition),
    };
  });
}

/**
 * The names of tools there and back: callers may use dots and colons, the provider refuses them. The same chat gives
 * the same names, so that an answer can be read without remembering how the request was written.
 */
export class ToolNames {
  readonly #theirs = new Map<string, string>();
  readonly #ours = new Map<string, string>();
  readonly #custom: ReadonlySet<string>;

  constructor(chat: ChatRequest) {
    const tools = readTools(chat);
    const names = [...tools.map(({ definition }) => String(definition['name'])), ...namesOfToolCalls(chat).values()];
    // Names that may stay as they are come first, so that no other takes their place.
    for (const name of names.filter(isFine)) this.#add(name, name);
    for (const name of names.filter((each) => !isFine(each))) this.#add(name, this.#invent(name));
    this.#custom = new Set(tools.filter(({ type }) => type === 'custom').map(({ definition }) => String(definition['name'])));
  }

  encode(name: string): string {
    return this.#theirs.get(name) ?? name;
  }

  decode(name: string): string {
    return this.#ours.get(name) ?? name;
  }

  /** Whether the caller gave this tool free text for its input. */
  isCustom(name: string): boolean {
    return this.#custom.has(name);
  }

  #add(ours: string, theirs: string): void {
    if (this.#theirs.has(ours)) return;
    this.#theirs.set(ours, theirs);
    this.#ours.set(theirs, ours);
  }

  #invent(name: string): string {
    const stem = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_CHARACTERS_MAX - 4) || '_';
    let invented = stem;
    for (let count = 2; this.#ours.has(invented) || invented === ANSWER_TOOL; count += 1) invented = `${stem}_${count}`;
    return invented;
  }
}

function isFine(name: string): boolean {
  return VALID.test(name) && name !== ANSWER_TOOL;
}

const NAME_CHARACTERS_MAX = 128;
const VALID = /^[A-Za-z0-9_-]{1,128}$/;
