import type { ChatRequest } from '../../openai/types.ts';
import { CallerTools } from '../caller-tools.ts';
import { jsonFormat, schemaOf } from '../json-instruction.ts';
import { legalName } from '../legal-name.ts';

/** The tool through which a model answers in JSON when no other way enforces a schema. Callers never see it. */
export const ANSWER_TOOL = 'answer_in_json';

/** The provider's own tool. Its name is fixed. */
export const SEARCH_TOOL = 'web_search';

const CHARACTERS = 'A-Za-z0-9_-';
const RULE = { characters: CHARACTERS, charactersMax: 128 };
const legalToolName = legalName({ ...RULE, reserved: [ANSWER_TOOL] });
const legalNameBesideSearch = legalName({ ...RULE, reserved: [ANSWER_TOOL, SEARCH_TOOL] });

/** Encodes a tool's name: callers may use dots and colons, which the provider refuses, or have a tool named like the provider's search. */
export function encodeToolName(name: string, chat: ChatRequest): string {
  return chat['web_search_options'] === undefined ? legalToolName(name) : legalNameBesideSearch(name);
}

/** Encodes the id of a call, which may come from another provider. */
export const encodeCallId = legalName({ characters: CHARACTERS, charactersMax: 256 });

/** Returns the tools of a request by the names the provider knows, the one for the answer included. */
export function callerTools(chat: ChatRequest): CallerTools {
  const definition = { parameters: schemaOf(jsonFormat(chat) ?? {}) };
  const own = new Map([[ANSWER_TOOL, { type: 'function', name: ANSWER_TOOL, definition } as const]]);
  return new CallerTools(chat, (name) => encodeToolName(name, chat), own);
}
