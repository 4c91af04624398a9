import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { lookUp } from './look-up.ts';

/** The caller's `tool_choice`: the model may call a tool, must not, must call any, or must call a given one. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'any' | 'tool';
  /** The required tool, in mode `tool`. */
  readonly name?: string;
  /** The tools to choose from, when the choice is restricted. */
  readonly only?: readonly string[];
}

/** Reads `tool_choice` in any of its forms. */
export function readToolChoice(chat: ChatRequest): ToolChoice {
  const choice = chat['tool_choice'];
  if (!isObject(choice)) return { mode: lookUp(MODES, choice) ?? 'auto' };
  const allowed = choice['allowed_tools'];
  if (!isObject(allowed)) return { mode: 'tool', name: nameOfTool(choice) };
  const { mode, tools } = allowed;
  return { mode: lookUp(MODES, mode) ?? 'auto', only: (Array.isArray(tools) ? tools : []).filter(isObject).map(nameOfTool) };
}

const MODES: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', none: 'none', required: 'any', any: 'any' };

/** Returns the name of a tool, or of the tool in a `tool_choice`. */
export function nameOfTool(tool: JsonObject): string {
  const named = tool['function'] ?? tool['custom'] ?? tool;
  const name = isObject(named) ? named['name'] : named;
  return typeof name === 'string' ? name : '';
}
