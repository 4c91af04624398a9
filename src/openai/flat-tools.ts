import { isObject, type JsonObject } from './types.ts';

/**
 * Returns a body whose tools are in the form of this dialect. Some editors send them in that of the Responses API, where the name is
 * beside the type. The body itself is not changed, because its text may be sent on where nothing was.
 */
export function nestFlatTools(body: JsonObject): JsonObject {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools)) return body;
  const nested = tools.map(nest);
  const isNested = nested.every((tool, index) => tool === tools[index]) && nest(choice) === choice;
  return isNested ? body : { ...body, tools: nested, tool_choice: nest(choice) };
}

function nest(tool: unknown): unknown {
  if (!isObject(tool) || typeof tool['name'] !== 'string') return tool;
  const { type, function: called, custom, ...definition } = tool;
  if ((called ?? custom ?? undefined) !== undefined || (type !== 'function' && type !== 'custom')) return tool;
  return { type, [type]: isObject(definition['format']) ? { ...definition, format: nestGrammar(definition['format']) } : definition };
}

function nestGrammar(format: JsonObject): JsonObject {
  const { syntax, definition } = format;
  return format['type'] === 'grammar' && definition !== undefined ? { type: 'grammar', grammar: { syntax, definition } } : format;
}
