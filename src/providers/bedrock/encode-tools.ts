import { isObject, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import type { Grammar } from '../anthropic/encode-schema.ts';
import { flattenRoot, rootUnionsOf } from '../root-union.ts';
import { refusal } from '../provider.ts';
import { isMarked } from '../content.ts';
import { FREE_TEXT, hasGrammar } from '../custom-tools.ts';
import { nameOfTool, readToolChoice } from '../tool-choice.ts';
import type { CachePoints } from './cache-points.ts';
import type { Capabilities } from './capabilities.ts';
import { encodePlainSchema } from './plain-schema.ts';
import { encodeToolName } from './tool-names.ts';

/** The tools of a request in Converse's form, and what was lost. */
export interface EncodedTools {
  /** Undefined when the model must not call tools: Converse cannot offer tools and forbid them. */
  readonly toolConfig: JsonObject | undefined;
  readonly dropped: readonly string[];
}

/** What the tools share with the rest of the request. */
interface Shared {
  readonly points: CachePoints;
  readonly grammar: Grammar;
}

/** Encodes the tools and the tool choice. */
export function encodeTools(chat: ChatRequest, capabilities: Capabilities, { points, grammar }: Shared): EncodedTools {
  const choice = readToolChoice(chat);
  const known = Array.isArray(chat['tools']) ? chat['tools'].filter(isObject) : [];
  known.forEach(refuseUnknownType);
  const offered = known.filter((tool) => choice.only?.includes(nameOfTool(tool)) ?? true);
  if (offered.length === 0 || choice.mode === 'none') return { toolConfig: undefined, dropped: [] };
  if (!capabilities.hasTools) throw refusal('tools', 'This model does not support tools.');
  const specs = offered.map((tool) => encodeTool(tool, grammar, capabilities));
  const tools = offered.flatMap((tool, index) => [
    { toolSpec: specs[index] },
    ...points.after(capabilities.hasCachedTools && isMarkedTool(tool)),
  ]);
  const dropped = [...(chat['parallel_tool_calls'] === false ? ['parallel_tool_calls'] : []), ...lostOfTools(offered, specs, capabilities)];
  if (choice.mode === 'auto') return { toolConfig: { tools }, dropped };
  if (!capabilities.canForceTools) return { toolConfig: { tools }, dropped: [...dropped, 'tool_choice'] };
  const toolChoice = choice.name === undefined ? { any: {} } : { tool: { name: encodeToolName(choice.name) } };
  return { toolConfig: { tools, toolChoice }, dropped };
}

function refuseUnknownType(tool: JsonObject, index: number): void {
  if (isObject(tool['function']) || isObject(tool['custom'])) return;
  throw refusal(`tools[${index}]`, `Tools of type '${String(tool['type'])}' cannot be used with this model. Use 'function'.`);
}

/** Returns the tool options that cannot be enforced. */
function lostOfTools(tools: readonly JsonObject[], specs: readonly JsonObject[], { rootSchema }: Capabilities): string[] {
  const isLoose = tools.some((tool, index) => isStrict(tool) && specs[index]?.['strict'] !== true);
  const unions =
    rootSchema === 'any'
      ? []
      : tools.flatMap(({ function: definition }) => rootUnionsOf(isObject(definition) ? definition['parameters'] : undefined));
  return [
    ...new Set(unions.map((keyword) => `tools[].function.parameters.${keyword}`)),
    ...(isLoose ? ['tools[].function.strict'] : []),
    ...(tools.some(({ custom }) => isObject(custom) && hasGrammar(custom)) ? ['tools[].custom.format'] : []),
  ];
}

function isMarkedTool(tool: JsonObject): boolean {
  return isMarked(tool) || (isObject(tool['function']) && isMarked(tool['function']));
}

const ROOTS: Readonly<Record<Capabilities['rootSchema'], (schema: JsonObject) => JsonObject>> = {
  any: (schema) => schema,
  object: flattenRoot,
  fields: encodePlainSchema,
};

function encodeTool(tool: JsonObject, grammar: Grammar, { rootSchema }: Capabilities): JsonObject {
  const { custom } = tool;
  const definition = isObject(custom) ? custom : isObject(tool['function']) ? tool['function'] : {};
  const { description } = definition;
  const schema = ROOTS[rootSchema](inputSchemaOf(tool));
  const enforced = isStrict(tool) ? grammar.encodeInput(schema) : undefined;
  return {
    name: encodeToolName(nameOfTool(tool)),
    ...(typeof description === 'string' && description.trim() !== '' ? { description } : {}),
    ...(enforced === undefined ? {} : { strict: true }),
    inputSchema: { json: enforced ?? schema },
  };
}

function isStrict({ function: definition }: JsonObject): boolean {
  return isObject(definition) && definition['strict'] === true;
}

/** A tool without parameters takes an empty object. */
function inputSchemaOf({ custom, function: definition }: JsonObject): JsonObject {
  if (isObject(custom)) return FREE_TEXT;
  const parameters = isObject(definition) ? definition['parameters'] : undefined;
  return isObject(parameters) ? { type: 'object', ...parameters } : { type: 'object', properties: {} };
}
