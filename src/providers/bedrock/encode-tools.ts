import { isObject, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import type { Grammar } from '../anthropic/encode-schema.ts';
import { flattenRoot, rootUnionsOf } from '../root-union.ts';
import { refusal } from '../dialect.ts';
import { readTools, type CallerTool, type CallerTools } from '../caller-tools.ts';
import { FREE_TEXT, hasGrammar } from '../custom-tools.ts';
import { readToolChoice } from '../tool-choice.ts';
import type { CachePoints } from './cache-points.ts';
import type { Capabilities } from './capabilities.ts';
import { encodePlainSchema } from './encode-schema.ts';
import { encodeToolName } from './tool-names.ts';

/** The tools of a request in Converse's form, and what was lost. */
export interface EncodedTools {
  /** Undefined when the model must not call tools: Converse cannot offer tools and forbid them. */
  readonly toolConfig: { readonly tools: JsonObject[]; readonly toolChoice?: JsonObject } | undefined;
  readonly dropped: readonly string[];
}

/** What the tools share with the rest of the request. */
interface Shared {
  readonly all: CallerTools;
  readonly points: CachePoints;
  readonly grammar: Grammar;
}

/** Encodes the tools and the tool choice. */
export function encodeTools(chat: ChatRequest, capabilities: Capabilities, { all, points, grammar }: Shared): EncodedTools {
  const choice = readToolChoice(chat);
  const offered = readTools(chat).filter(({ name }) => choice.only?.includes(name) ?? true);
  if (offered.length === 0 || choice.mode === 'none') return { toolConfig: undefined, dropped: [] };
  if (!capabilities.hasTools) throw refusal('tools', 'This model does not support tools.');
  const specs = offered.map((tool) => encodeTool(tool, { all, points, grammar }, capabilities));
  const tools = offered.flatMap((tool, index) => [
    { toolSpec: specs[index] },
    ...points.after(capabilities.hasCachedTools && tool.isCacheBreak),
  ]);
  const dropped = [...(chat['parallel_tool_calls'] === false ? ['parallel_tool_calls'] : []), ...lostOfTools(offered, specs, capabilities)];
  if (choice.mode === 'auto') return { toolConfig: { tools }, dropped };
  if (!capabilities.canForceTools) return { toolConfig: { tools }, dropped: [...dropped, 'tool_choice'] };
  const toolChoice = choice.name === undefined ? { any: {} } : { tool: { name: encodeToolName(choice.name) } };
  return { toolConfig: { tools, toolChoice }, dropped };
}

/** Returns the tool options that cannot be enforced. */
function lostOfTools(tools: readonly CallerTool[], specs: readonly JsonObject[], { rootSchema }: Capabilities): string[] {
  const isLoose = tools.some((tool, index) => isStrict(tool) && specs[index]?.['strict'] !== true);
  const unions = rootSchema === 'any' ? [] : tools.flatMap(({ definition }) => rootUnionsOf(definition['parameters']));
  return [
    ...new Set(unions.map((keyword) => `tools[].function.parameters.${keyword}`)),
    ...(isLoose ? ['tools[].function.strict'] : []),
    ...(tools.some(({ type, definition }) => type === 'custom' && hasGrammar(definition)) ? ['tools[].custom.format'] : []),
  ];
}

const ROOTS: Readonly<Record<Capabilities['rootSchema'], (schema: JsonObject) => JsonObject>> = {
  any: (schema) => schema,
  object: flattenRoot,
  fields: encodePlainSchema,
};

function encodeTool(tool: CallerTool, { all, grammar }: Shared, { rootSchema, takesAnyField }: Capabilities): JsonObject {
  const { description } = tool.definition;
  const name = encodeToolName(tool.name);
  const given = inputSchemaOf(tool);
  const schema = ROOTS[rootSchema](takesAnyField ? given : all.fieldsOf(name).encodeSchema(given));
  const enforced = isStrict(tool) ? grammar.encodeInput(schema) : undefined;
  return {
    name,
    ...(typeof description === 'string' && description.trim() !== '' ? { description } : {}),
    ...(enforced === undefined ? {} : { strict: true }),
    inputSchema: { json: enforced ?? schema },
  };
}

function isStrict({ type, definition }: CallerTool): boolean {
  return type === 'function' && definition['strict'] === true;
}

/** A tool without parameters takes an empty object. */
function inputSchemaOf({ type, definition: { parameters } }: CallerTool): JsonObject {
  if (type === 'custom') return FREE_TEXT;
  return isObject(parameters) ? { type: 'object', ...parameters } : { type: 'object', properties: {} };
}
