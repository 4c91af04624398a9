import { isObject, type JsonObject } from '../../openai/types.ts';
import { readTools, type CallerTool } from '../caller-tools.ts';
import { FREE_TEXT, hasGrammar } from '../custom-tools.ts';
import { refusal } from '../dialect.ts';
import { readToolChoice } from '../tool-choice.ts';
import { refuseUnpricedSearch } from '../unpriced.ts';
import { encodeSchema } from './encode-schema.ts';
import type { Draft } from './draft.ts';
import { encodeToolName } from './tool-names.ts';

/**
 * Encodes Google's own search. Older models do not support it together with functions, and newer ones only with parts
 * that clients do not keep.
 */
export function encodeSearch({ chat, target, dropped }: Draft): JsonObject {
  refuseUnpricedSearch(chat, target);
  const options = chat['web_search_options'];
  if (!isObject(options)) return {};
  if (chat['tools'] !== undefined)
    throw refusal('web_search_options', "This model cannot combine web search with 'tools'. Leave out one of them.");
  for (const name of ['search_context_size', 'user_location']) if (options[name] !== undefined) dropped.add(`web_search_options.${name}`);
  return { tools: [{ googleSearch: {} }] };
}

/** Encodes the tools and their use. With a response format, calls cannot be held to their schemas. */
export function encodeTools(draft: Draft, { hasFormat }: { readonly hasFormat: boolean }): JsonObject {
  const { chat, capabilities, dropped } = draft;
  const choice = readToolChoice(chat);
  const tools = readTools(chat);
  // Allowed names can be listed only where a call is forced. Otherwise the other tools are left out.
  const offered = choice.mode === 'auto' && choice.only !== undefined ? tools.filter(({ name }) => choice.only?.includes(name)) : tools;
  if (offered.length === 0) return {};
  const isStrictlyAsked = offered.some(({ definition }) => definition['strict'] === true);
  const isStrict = !hasFormat && isStrictlyAsked;
  const mode = choice.mode === 'auto' && isStrict && capabilities.hasValidatedCalls ? 'VALIDATED' : MODES[choice.mode];
  // Forced calls follow their schemas anyway, and forbidden ones need none.
  if (mode === 'AUTO' && isStrictlyAsked) dropped.add('tools[].function.strict');
  const names = choice.name === undefined ? choice.only : [choice.name];
  const allowed = mode === 'ANY' && names !== undefined ? { allowedFunctionNames: names.map(encodeToolName) } : {};
  return {
    tools: [{ functionDeclarations: offered.map((tool) => encodeTool(tool, dropped)) }],
    ...(mode === 'AUTO' ? {} : { toolConfig: { functionCallingConfig: { mode, ...allowed } } }),
  };
}

const MODES = { none: 'NONE', auto: 'AUTO', any: 'ANY', tool: 'ANY' } as const;

function encodeTool({ type, name, definition }: CallerTool, dropped: Set<string>): JsonObject {
  const { description, parameters } = definition;
  if (type === 'custom' && hasGrammar(definition)) dropped.add('tools[].custom.format');
  const schema = type === 'custom' ? FREE_TEXT : encodeParameters(parameters, dropped);
  return {
    name: encodeToolName(name),
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema === undefined ? {} : { parametersJsonSchema: schema }),
  };
}

/** A function without arguments has no schema. */
function encodeParameters(parameters: unknown, dropped: Set<string>): JsonObject | undefined {
  if (!isObject(parameters) || Object.keys(parameters).length === 0) return undefined;
  const { schema, lost } = encodeSchema(parameters);
  for (const keyword of lost) dropped.add(`tools[].function.parameters.${keyword}`);
  return schema;
}
