import { createHash } from 'node:crypto';
import { isObject, type ChatRequest } from '../../openai/types.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}$/u;
const READABLE_CHARACTERS = 55;

/**
 * Returns a tool name or call id that Converse accepts. If the caller's has other characters or is too long, it becomes
 * as much of it as fits, plus a hash.
 */
export function encodeToolName(name: string): string {
  if (NAME.test(name)) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, READABLE_CHARACTERS);
  return `${readable}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

/** A tool of the request, as the caller knows it. */
export interface CallerTool {
  readonly name: string;
  /** Its input is free text, sent as the only field of an object. */
  readonly isCustom: boolean;
}

/** Returns the caller's tools by the names the model knows. */
export function toolsByEncodedName(chat: ChatRequest): ReadonlyMap<string, CallerTool> {
  const tools = Array.isArray(chat['tools']) ? chat['tools'].filter(isObject) : [];
  return new Map(
    tools.map((tool) => {
      const isCustom = isObject(tool['custom']);
      const definition = isObject(tool['custom']) ? tool['custom'] : isObject(tool['function']) ? tool['function'] : {};
      const name = String(definition['name']);
      return [encodeToolName(name), { name, isCustom }];
    }),
  );
}
