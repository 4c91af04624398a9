import type { ChatRequest } from '../../openai/types.ts';
import { CallerTools } from '../caller-tools.ts';
import { jsonFormat, schemaOf } from '../json-instruction.ts';
import { legalName } from '../legal-name.ts';

/** The tool through which a model answers in JSON when no other way enforces a schema. Callers never see it. */
export const ANSWER_TOOL = 'answer_in_json';

const CHARACTERS = 'A-Za-z0-9_-';

/** Encodes a tool's name: callers may use dots and colons, which the provider refuses. */
export const encodeToolName = legalName({ characters: CHARACTERS, charactersMax: 128, reserved: ANSWER_TOOL });

/** Encodes the id of a call, which may come from another provider. */
export const encodeCallId = legalName({ characters: CHARACTERS, charactersMax: 256 });

/** Returns the tools of a request by the names the provider knows, the one for the answer included. */
export function callerTools(chat: ChatRequest): CallerTools {
  const definition = { parameters: schemaOf(jsonFormat(chat) ?? {}) };
  return new CallerTools(chat, encodeToolName, new Map([[ANSWER_TOOL, { type: 'function', name: ANSWER_TOOL, definition }]]));
}
