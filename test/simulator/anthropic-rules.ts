import { createHash } from 'node:crypto';
import type { MessagesRequest, WireBlock, WireMessage } from './anthropic-shapes.ts';

/** What a simulated model can do. These facts are kept separately from the adapter's own table. */
export interface SimulatedModel {
  readonly outputTokensMax: number;
  readonly sampling: boolean;
  readonly thinking: readonly ('enabled' | 'adaptive' | 'between_tools' | 'disabled')[];
  readonly thinksByDefault: boolean;
  readonly efforts: readonly string[];
  readonly forcedTools: boolean;
  readonly schemas: boolean;
  readonly systemTurns: boolean;
  readonly prefill: boolean;
  readonly boundThinking: boolean;
}

const NEW = ['low', 'medium', 'high', 'xhigh', 'max'];
const OPUS_5: SimulatedModel = {
  outputTokensMax: 128_000,
  sampling: false,
  thinking: ['adaptive', 'enabled', 'disabled'],
  thinksByDefault: true,
  efforts: NEW,
  forcedTools: true,
  schemas: true,
  systemTurns: true,
  prefill: false,
  boundThinking: false,
};
const SONNET_4_5: SimulatedModel = {
  ...OPUS_5,
  outputTokensMax: 64_000,
  sampling: true,
  thinking: ['enabled', 'disabled'],
  thinksByDefault: false,
  efforts: [],
  systemTurns: false,
  prefill: true,
};

/** The models the simulator serves. Any other is not found. */
export const SIMULATED_MODELS: Readonly<Record<string, SimulatedModel>> = {
  'claude-opus-5': OPUS_5,
  'claude-haiku-5-5': { ...OPUS_5, thinking: ['adaptive', 'disabled'], systemTurns: false },
  'claude-sonnet-5': { ...OPUS_5, systemTurns: false },
  'claude-sonnet-5-5': { ...OPUS_5, thinking: ['adaptive', 'between_tools'], forcedTools: false, systemTurns: false, boundThinking: true },
  'claude-opus-5-5': { ...OPUS_5, thinking: ['adaptive'], forcedTools: false, boundThinking: true },
  'claude-fable-5-1': { ...OPUS_5, thinking: ['adaptive'], forcedTools: false, boundThinking: true },
  'claude-fable-5': { ...OPUS_5, thinking: ['adaptive'] },
  'claude-opus-4-8': { ...OPUS_5, thinking: ['adaptive', 'disabled'], thinksByDefault: false },
  'claude-sonnet-4-6': {
    ...SONNET_4_5,
    thinking: ['adaptive', 'enabled', 'disabled'],
    efforts: ['low', 'medium', 'high', 'max'],
    prefill: false,
  },
  'claude-opus-4-5': { ...SONNET_4_5, efforts: ['low', 'medium', 'high'] },
  'claude-sonnet-4-5': SONNET_4_5,
  'claude-opus-4-1': { ...SONNET_4_5, outputTokensMax: 32_000 },
  'claude-sonnet-4-20250514': { ...SONNET_4_5, schemas: false },
  'claude-3-haiku-20240307': { ...SONNET_4_5, outputTokensMax: 4096, thinking: [], schemas: false },
};

/** Everything a rule may look at. */
export interface Case {
  readonly body: MessagesRequest;
  readonly model: SimulatedModel;
  readonly modelName: string;
  readonly version: string;
  readonly betas: readonly string[];
  readonly isVertex: boolean;
}

/** Returns the first rule the request breaks, in the provider's words. Undefined for a valid request. */
export function findBreach(request: Case): string | undefined {
  for (const rule of RULES) {
    const breach = rule(request);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

export function isThinkingOn({ body, model }: Pick<Case, 'body' | 'model'>): boolean {
  return body.thinking === undefined ? model.thinksByDefault : body.thinking.type !== 'disabled';
}

/** Signs a thinking block. The signature covers its text, its model and, for some models, everything before it. */
export function sign(thinking: string, { modelName, model, body }: Case, messages: readonly WireMessage[]): string {
  const before = model.boundThinking ? [body.system ?? '', body.tools ?? [], messages] : [];
  const plain = JSON.stringify([modelName, thinking, before], (key, value: unknown) => (key === 'cache_control' ? undefined : value));
  return createHash('sha256').update(plain).digest('base64');
}

type Rule = (request: Case) => string | undefined;

const RULES: readonly Rule[] = [
  ({ body, model, modelName }) =>
    body.max_tokens > model.outputTokensMax
      ? `max_tokens: ${body.max_tokens} > ${model.outputTokensMax}, which is the maximum allowed number of output tokens for ${modelName}`
      : undefined,
  checkSampling,
  checkThinking,
  checkTools,
  checkFormat,
  checkTurns,
  checkToolOrder,
  checkSignatures,
  ({ body }) => {
    const count = JSON.stringify(body).split('"cache_control"').length - 1;
    return count > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` : undefined;
  },
  ({ body, isVertex }) =>
    isVertex && JSON.stringify(body).includes('"type":"url"') ? 'messages: URL sources are not supported' : undefined,
];

function checkSampling(request: Case): string | undefined {
  const { body, model, version } = request;
  const given = (['temperature', 'top_p', 'top_k'] as const).filter((name) => body[name] !== undefined);
  if (given.length === 0) return undefined;
  if (version === '2026-10-21') return `${given[0]}: Extra inputs are not permitted`;
  if (!model.sampling) return `${given[0]} is deprecated for this model.`;
  if (isThinkingOn(request)) return `\`${given[0]}\` may only be set to 1 when thinking is enabled.`;
  return given.includes('temperature') && given.includes('top_p')
    ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
    : undefined;
}

function checkThinking({ body, model, betas }: Case): string | undefined {
  const { thinking, output_config: output } = body;
  const effort = output?.effort;
  if (effort !== undefined && !model.efforts.includes(effort)) return `This model does not support effort level '${effort}'.`;
  if (thinking === undefined) return undefined;
  if (!model.thinking.includes(thinking.type)) return `thinking.type: '${thinking.type}' is not supported on this model`;
  if (thinking.type === 'disabled')
    return effort === 'xhigh' || effort === 'max' ? `thinking: effort '${effort}' needs thinking` : undefined;
  if (thinking.block_binding !== undefined && !betas.includes('thinking-binding-controls-2026-08-01'))
    return 'thinking.block_binding: Extra inputs are not permitted';
  if (thinking.type !== 'enabled') return undefined;
  if (thinking.budget_tokens >= body.max_tokens) return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  if (body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool')
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  const lastQuestion = body.messages.findLastIndex(
    ({ role, content }) => role === 'user' && !content.some(({ type }) => type === 'tool_result'),
  );
  const first = body.messages.slice(lastQuestion + 1).find(({ role }) => role === 'assistant');
  return first === undefined || isThinkingBlock(first.content[0])
    ? undefined
    : 'messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.';
}

function checkTools({ body, model, isVertex }: Case): string | undefined {
  const tools = body.tools ?? [];
  const choice = body.tool_choice;
  if (new Set(tools.map(({ name }) => name)).size < tools.length) return 'tools: Tool names must be unique.';
  if (choice !== undefined && tools.length === 0) return 'tool_choice: may only be specified while providing tools';
  if ((choice?.type === 'any' || choice?.type === 'tool') && !model.forcedTools)
    return 'tool_choice: forced tool use is not supported on this model';
  if (choice?.type === 'tool' && !tools.some(({ name }) => name === choice.name))
    return `tool_choice: Tool '${choice.name}' not found in provided tools`;
  const refused = tools.flatMap((tool) => ('input_schema' in tool ? fieldsIn(tool.input_schema) : [])).find((name) => !FIELD.test(name));
  if (refused !== undefined) return `tools: input_schema.properties: Property keys should match pattern '${FIELD.source}', not ${refused}`;
  const strict = tools.flatMap((tool) => ('strict' in tool && tool.strict === true ? [tool.input_schema] : []));
  if (strict.length > 0 && (!model.schemas || isVertex)) return 'tools: strict is not supported on this model';
  const usesTools = body.messages.some(({ content }) => content.some(({ type }) => type === 'tool_use' || type === 'tool_result'));
  if (usesTools && tools.length === 0) return 'Requests which include `tool_use` or `tool_result` blocks must define tools';
  return strict.map(schemaBreach).find((breach) => breach !== undefined);
}

const FIELD = /^[a-zA-Z0-9_.-]{1,64}$/u;

/** Returns the names of the fields of a schema, at every depth. */
export function fieldsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...(keyword === 'properties' && typeof value === 'object' && value !== null ? Object.keys(value) : []),
    ...fieldsIn(value),
  ]);
}

function checkFormat({ body, model, isVertex }: Case): string | undefined {
  const format = body.output_config?.format;
  if (format === undefined) return undefined;
  return !model.schemas || isVertex ? 'output_config.format: Extra inputs are not permitted' : schemaBreach(format.schema);
}

const KEYWORDS = new Set(
  'type enum const anyOf allOf $ref $defs definitions properties required items default title description format additionalProperties'.split(
    ' ',
  ),
);
const FORMATS = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** Returns the first part of a schema that the grammar does not support. */
export function schemaBreach(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const node = schema as Record<string, unknown>;
  const unknown = Object.keys(node).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) return `output_config.format.schema: property '${unknown}' is not supported`;
  const { format } = node;
  if (typeof format === 'string' && !FORMATS.has(format)) return `output_config.format.schema: format '${format}' is not supported`;
  if (node['type'] === 'object' && node['additionalProperties'] !== false)
    return "output_config.format.schema: 'additionalProperties' must be false";
  const maps = ['properties', '$defs', 'definitions'].flatMap((name) => Object.values(node[name] ?? {}));
  const lists = ['anyOf', 'allOf'].flatMap((name) => (node[name] ?? []) as unknown[]);
  return [...maps, ...lists, node['items']].map(schemaBreach).find((breach) => breach !== undefined);
}

function checkTurns(request: Case): string | undefined {
  const { body, model } = request;
  const roles = body.messages.map(({ role }) => role);
  if (roles[0] !== 'user')
    return roles[0] === 'system'
      ? "messages.0: use the top-level 'system' parameter for the initial system prompt"
      : 'messages: first message must use the "user" role';
  if (roles.includes('system') && !model.systemTurns) return "role 'system' is not supported on this model";
  const misplaced = roles.findIndex((role, index) => role === 'system' && (roles[index - 1] !== 'user' || roles[index + 1] === 'user'));
  if (misplaced !== -1) return `messages.${misplaced}: a system message must directly follow a user turn`;
  const last = body.messages.at(-1);
  if (last?.role !== 'assistant' || last.content.at(-1)?.type === 'web_search_tool_result') return undefined;
  if (!model.prefill || isThinkingOn(request))
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  const text = last.content.at(-1);
  return text?.type === 'text' && /\s$/u.test(text.text)
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined;
}

function checkToolOrder({ body }: Case): string | undefined {
  const ids = body.messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
  if (new Set(ids).size < ids.length) return 'messages: `tool_use` ids must be unique';
  let open: string[] = [];
  for (const [index, { role, content }] of body.messages.entries()) {
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    const stray = results.find((id) => !open.includes(id));
    if (stray !== undefined) return `messages.${index}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`;
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0)
      return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
    if (content.slice(0, results.length).some(({ type }) => results.length > 0 && type !== 'tool_result'))
      return `messages.${index}: tool results must come first`;
    open = role === 'assistant' ? content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) : [];
  }
  return open.length > 0 ? `messages: \`tool_use\` ids were found without \`tool_result\` blocks: ${open.join(', ')}` : undefined;
}

function checkSignatures(request: Case): string | undefined {
  const { body } = request;
  const drops =
    body.thinking !== undefined &&
    'block_binding' in body.thinking &&
    body.thinking.block_binding?.prefix_mismatch_behavior === 'drop_block';
  if (body.thinking?.type === 'disabled' && body.messages.some(({ content }) => content.some(isThinkingBlock)))
    return 'When thinking is disabled, an `assistant` message cannot contain `thinking`.';
  if (drops) return undefined;
  for (const [index, { content }] of body.messages.entries())
    for (const [place, block] of content.entries())
      if (block.type === 'thinking' && block.signature !== sign(block.thinking, request, body.messages.slice(0, index)))
        return `messages.${index}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
  return undefined;
}

function isThinkingBlock(block: WireBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}
