import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';

/** What the caller asked for in `tool_choice`: that the model may call a tool, must not, must call any, or this one. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'any' | 'tool';
  /** The tool of the mode `tool`. */
  readonly name?: string;
  /** The tools that there are to choose from, where not all are. */
  readonly only?: readonly string[];
}

/** Reads the choice in all its forms. */
export function readToolChoice(chat: ChatRequest): ToolChoice {
  const choice = chat['tool_choice'];
  if (!isObject(choice)) return { mode: MODES[String(choice)] ?? 'auto' };
  const allowed = choice['allowed_tools'];
  if (!isObject(allowed)) return { mode: 'tool', name: nameOfTool(choice) };
  const { mode, tools } = allowed;
  return { mode: MODES[String(mode)] ?? 'auto', only: (Array.isArray(tools) ? tools : []).filter(isObject).map(nameOfTool) };
}

const MODES: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', none: 'none', required: 'any', any: 'any' };

/** The name in a tool, or in a choice of one. */
export function nameOfTool(tool: JsonObject): string {
  const named = tool['function'] ?? tool['custom'] ?? tool;
  return String(isObject(named) ? named['name'] : named);
}
