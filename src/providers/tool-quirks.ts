import type { ToolChoiceLimit } from './host.ts';
import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { nameOfTool, readToolChoice } from './tool-choice.ts';
import { typedParameters } from './typed-schema.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * Puts the fields of a body besides the messages, which are ours to modify, into the basic schema: see `MessageQuirks`.
 * Fields that need no change keep their value, so that their original text can be sent.
 */
export function simplifyFields(body: JsonObject): void {
  offerAllowed(body);
  for (const name in body) if (body[name] === null) delete body[name];
  for (const name of ['stream_options', 'tool_choice', 'response_format']) if (isObject(body[name])) body[name] = withoutNulls(body[name]);
  const { tools } = body;
  if (!Array.isArray(tools)) return;
  const completed = objectsOf(tools).map(completeTool);
  if (completed.some((tool, index) => tool !== tools[index])) body['tools'] = completed;
}

/** Offers only the allowed tools, where the host knows no list of them. */
function offerAllowed(body: JsonObject): void {
  const { tool_choice: choice } = body;
  if (!isObject(choice) || !isObject(choice['allowed_tools'])) return;
  const { only = [] } = readToolChoice(body as ChatRequest);
  const allowed = objectsOf(body['tools']).filter((tool) => only.includes(nameOfTool(tool)));
  body['tools'] = allowed;
  body['tool_choice'] = choice['allowed_tools']['mode'];
  if (allowed.length === 0) offerNone(body);
}

/** An empty list is refused, and so is what goes with it. */
function offerNone(body: JsonObject): void {
  for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete body[name];
}

/** Returns the tools with their parameters in the strict form that some hosts demand. */
export function typedTools(tools: readonly unknown[]): JsonObject[] {
  return objectsOf(tools).map((tool) => {
    const { function: definition } = tool;
    if (!isObject(definition) || !isObject(definition['parameters'])) return tool;
    return { ...tool, function: { ...definition, parameters: typedParameters(definition['parameters']) } };
  });
}

/**
 * Puts `tool_choice` into a form that the model accepts, and returns the names of the fields that were lost. A forced
 * call takes precedence over thinking, which is turned off with these fields unless the caller set one of them.
 */
export function limitToolChoice(body: JsonObject, limit: ToolChoiceLimit, thinkingOff: JsonObject = {}): readonly string[] {
  const { mode, name } = readToolChoice(body as ChatRequest);
  if (mode === 'none' && limit === 'auto') offerNone(body);
  if (mode === 'auto' || mode === 'none') return [];
  if (limit === 'unnamed') {
    if (mode === 'tool') body['tools'] = objectsOf(body['tools']).filter((tool) => nameOfTool(tool) === name);
    body['tool_choice'] = 'required';
    return [];
  }
  if (limit !== 'unthinking') {
    delete body['tool_choice'];
    return ['tool_choice'];
  }
  const effort = body['reasoning_effort'];
  if (Object.keys(thinkingOff).some((field) => body[field] !== undefined)) return [];
  delete body['reasoning_effort'];
  Object.assign(body, thinkingOff);
  return effort === undefined || effort === 'none' ? [] : ['reasoning_effort'];
}

const NO_PARAMETERS = { type: 'object', properties: {} };

function completeTool(tool: JsonObject): JsonObject {
  const plain = withoutNulls(tool);
  const { function: definition } = plain;
  if (!isObject(definition) || definition['parameters'] !== undefined) return plain;
  return { ...plain, function: { ...definition, parameters: NO_PARAMETERS } };
}
