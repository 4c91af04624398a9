import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { isMarked, calledNames } from '../content.ts';

/** The tool through which a model answers in JSON when no other way enforces a schema. Callers never see it. */
export const ANSWER_TOOL = 'answer_in_json';

/** One of the caller's tools. */
export interface CallerTool {
  readonly type: string;
  readonly definition: JsonObject;
  /** Its position in the request. */
  readonly param: string;
  readonly isCacheBreak: boolean;
}

/** Returns the tools the request offers. */
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
 * Maps tool names in both directions: callers may use dots and colons, which the provider refuses. The same chat always
 * gives the same names, so an answer can be decoded without remembering how the request was encoded.
 */
export class ToolNames {
  readonly #theirs = new Map<string, string>();
  readonly #ours = new Map<string, string>();
  readonly #custom: ReadonlySet<string>;

  constructor(chat: ChatRequest) {
    const tools = readTools(chat);
    const names = [...tools.map(({ definition }) => String(definition['name'])), ...calledNames(chat)];
    // Names that need no change are added first, so that no replacement takes them.
    for (const name of names.filter(isAllowed)) this.#add(name, name);
    for (const name of names.filter((each) => !isAllowed(each))) this.#add(name, this.#makeUnique(name));
    this.#custom = new Set(tools.filter(({ type }) => type === 'custom').map(({ definition }) => String(definition['name'])));
  }

  encode(name: string): string {
    return this.#theirs.get(name) ?? name;
  }

  decode(name: string): string {
    return this.#ours.get(name) ?? name;
  }

  /** True when the caller's tool takes free text. */
  isCustom(name: string): boolean {
    return this.#custom.has(name);
  }

  #add(ours: string, theirs: string): void {
    if (this.#theirs.has(ours)) return;
    this.#theirs.set(ours, theirs);
    this.#ours.set(theirs, ours);
  }

  #makeUnique(name: string): string {
    const stem = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_CHARACTERS_MAX - 4) || '_';
    let unique = stem;
    for (let count = 2; this.#ours.has(unique) || unique === ANSWER_TOOL; count += 1) unique = `${stem}_${count}`;
    return unique;
  }
}

function isAllowed(name: string): boolean {
  return VALID.test(name) && name !== ANSWER_TOOL;
}

const NAME_CHARACTERS_MAX = 128;
const VALID = /^[A-Za-z0-9_-]{1,128}$/;
