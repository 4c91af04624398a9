import { isObject, type JsonObject } from '../../openai/types.ts';
import { readTools, type CallerTool } from '../caller-tools.ts';
import { calledNames } from '../content.ts';
import { FREE_TEXT, hasGrammar } from '../custom-tools.ts';
import { readToolChoice, type ToolChoice } from '../tool-choice.ts';
import type { FieldNames } from '../field-names.ts';
import { refuseUnpricedSearch } from '../unpriced.ts';
import type { Draft } from './draft.ts';
import { CACHE_BREAK } from './encode-parts.ts';
import type { AnswerFormat } from './encode-format.ts';
import { flattenRoot, rootUnionsOf } from '../root-union.ts';
import { ANSWER_TOOL, encodeToolName, SEARCH_TOOL } from './tool-names.ts';

/** The tools of a request, and whether the model must call one. */
export interface EncodedTools {
  readonly tools: JsonObject[];
  readonly choice: JsonObject | undefined;
}

/** Encodes `tools`, `tool_choice` and related fields. */
export function encodeTools(draft: Draft, format: AnswerFormat): EncodedTools {
  const offered = readTools(draft.chat);
  const requested = readToolChoice(draft.chat);
  const allowed = requested.only === undefined ? offered : offered.filter(({ name }) => requested.only?.includes(name));
  const tools = [...encodeDefinitions(draft, allowed), ...encodeSearch(draft)];
  if (tools.length === 0) tools.push(...encodeFromHistory(draft));
  const choice = chooseTool(draft, requested, tools.length > 0 && (allowed.length > 0 || draft.chat['web_search_options'] !== undefined));
  return format.tool === undefined ? { tools, choice } : addAnswerTool(encodeAnswerTool(draft, format.tool), { tools, choice });
}

/** True when the model must call a tool, which rules out thinking with a budget. */
export function isForced(choice: JsonObject | undefined): boolean {
  return choice?.['type'] === 'any' || choice?.['type'] === 'tool';
}

function encodeDefinitions({ chat, tools: all, grammar, dropped }: Draft, tools: readonly CallerTool[]): JsonObject[] {
  return tools.map(({ type, name, definition, param, isCacheBreak }) => {
    const encodedName = encodeToolName(name, chat);
    const schema = type === 'custom' ? FREE_TEXT : objectSchema(definition['parameters'], all.fieldsOf(encodedName));
    if (type === 'function') for (const keyword of rootUnionsOf(definition['parameters'])) dropped.add(`${param}.parameters.${keyword}`);
    const wantsStrict = definition['strict'] === true && type === 'function';
    const enforced = wantsStrict ? grammar.encodeInput(schema) : undefined;
    if (wantsStrict && enforced === undefined) dropped.add(`${param}.strict`);
    // The grammar is only described in the prompt.
    if (type === 'custom' && hasGrammar(definition)) dropped.add(`${param}.format`);
    const description = type === 'custom' ? describeCustom(definition) : definition['description'];
    return {
      name: encodedName,
      ...(typeof description === 'string' && description !== '' ? { description } : {}),
      input_schema: enforced ?? schema,
      ...(enforced === undefined ? {} : { strict: true }),
      ...(isCacheBreak ? CACHE_BREAK : {}),
    };
  });
}

function describeCustom({ description, format }: JsonObject): string {
  const grammar = isObject(format) && isObject(format['grammar']) ? format['grammar'] : undefined;
  const rule =
    grammar === undefined ? '' : `The input must follow this ${String(grammar['syntax'])} grammar: ${String(grammar['definition'])}`;
  return [description, rule].filter((text) => typeof text === 'string' && text !== '').join('\n');
}

function objectSchema(parameters: unknown, fields: FieldNames): JsonObject {
  if (!isObject(parameters)) return { type: 'object', properties: {} };
  const renamed = fields.encodeSchema(parameters);
  return flattenRoot(renamed['type'] === 'object' ? renamed : { ...renamed, type: 'object' });
}

/** Encodes web search. The amount of searching is up to the model. */
function encodeSearch({ chat, target, dropped }: Draft): JsonObject[] {
  refuseUnpricedSearch(chat, target);
  const options = chat['web_search_options'];
  if (!isObject(options)) return [];
  if (options['search_context_size'] !== undefined) dropped.add('web_search_options.search_context_size');
  const location = isObject(options['user_location']) ? options['user_location']['approximate'] : undefined;
  const place = isObject(location) ? { user_location: { type: 'approximate', ...location } } : {};
  return [{ type: 'web_search_20250305', name: SEARCH_TOOL, ...place }];
}

/**
 * Defines the tools that only the history mentions: a conversation with tool calls is refused without definitions, even
 * if the model is not to call any.
 */
function encodeFromHistory({ chat }: Draft): JsonObject[] {
  return [...calledNames(chat)].map((name) => ({
    name: encodeToolName(name, chat),
    input_schema: { type: 'object', properties: {} },
  }));
}

function chooseTool({ chat, capabilities, dropped }: Draft, requested: ToolChoice, isOffered: boolean): JsonObject | undefined {
  // Tools defined only because the history mentions them must not be called.
  if (!isOffered) return calledNames(chat).size > 0 ? { type: 'none' } : undefined;
  const isRefused = (requested.mode === 'any' || requested.mode === 'tool') && !capabilities.takesForcedTools;
  if (isRefused) dropped.add('tool_choice');
  const mode = isRefused ? 'auto' : requested.mode;
  const isSerial = chat['parallel_tool_calls'] === false && mode !== 'none';
  if (mode === 'auto' && !isSerial) return undefined;
  return {
    type: mode,
    ...(mode === 'tool' ? { name: encodeToolName(requested.name ?? '', chat) } : {}),
    ...(isSerial ? { disable_parallel_tool_use: true } : {}),
  };
}

function encodeAnswerTool({ tools }: Draft, { description, schema }: NonNullable<AnswerFormat['tool']>): JsonObject {
  return { name: ANSWER_TOOL, description, input_schema: objectSchema(schema, tools.fieldsOf(ANSWER_TOOL)) };
}

/** Adds the tool through which the model answers. If the model may also call the caller's tools, it must call one of them all. */
function addAnswerTool(tool: JsonObject, { tools, choice }: EncodedTools): EncodedTools {
  if (isForced(choice)) return { tools, choice };
  const isOnlyWay = tools.length === 0 || choice?.['type'] === 'none';
  return {
    tools: [...tools, tool],
    choice: isOnlyWay ? { type: 'tool', name: ANSWER_TOOL, disable_parallel_tool_use: true } : { ...choice, type: 'any' },
  };
}
