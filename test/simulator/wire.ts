/** The parts of a chat-completions request that affect the simulator's answer. */
export interface ChatRequest {
  readonly model: string;
  readonly isStreaming: boolean;
  readonly includeUsage: boolean;
  readonly includeObfuscation: boolean;
  readonly choiceCount: number;
  readonly outputTokensMax: number | undefined;
  readonly tools: readonly Tool[];
  readonly topLogprobs: number | undefined;
  readonly promptTokens: number;
}

interface Tool {
  readonly name: string;
  readonly arguments: string;
}

/** What the simulated model says, before it is split into a body or chunks. */
export interface Reply {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ReplyChoice[];
  /** OpenAI's usage object, or whatever a behaviour puts in its place. `undefined` omits the field. */
  readonly usage: unknown;
}

interface ReplyChoice {
  readonly index: number;
  readonly fragments: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly topLogprobs: number | undefined;
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly fragments: readonly string[];
}

/** Token counts as OpenAI reports them: cached tokens are part of the prompt, reasoning is part of the completion. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: {
    readonly cached_tokens: number;
    readonly audio_tokens: number;
    readonly cache_write_tokens: number;
  };
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number;
    readonly audio_tokens: number;
    readonly accepted_prediction_tokens: number;
    readonly rejected_prediction_tokens: number;
  };
}

export type JsonObject = Record<string, unknown>;

const FINGERPRINT = 'fp_5imu1ator';
const TOOL_CALLS_MAX = 2;

/** Parses a request body the way a lenient provider does, and ignores what it does not know. */
export function readChatRequest(body: JsonObject): ChatRequest {
  const options = asObject(body['stream_options']);
  const cap = body['max_completion_tokens'] ?? body['max_tokens'];
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const lastRole = asObject(messages.at(-1))['role'];
  const callsTools = body['tool_choice'] !== 'none' && lastRole !== 'tool' && Array.isArray(body['tools']);
  return {
    model: String(body['model']),
    isStreaming: body['stream'] === true,
    includeUsage: options['include_usage'] === true,
    includeObfuscation: options['include_obfuscation'] !== false,
    choiceCount: typeof body['n'] === 'number' ? body['n'] : 1,
    outputTokensMax: typeof cap === 'number' ? cap : undefined,
    tools: callsTools ? readTools(body['tools']) : [],
    topLogprobs: body['logprobs'] === true ? Number(body['top_logprobs'] ?? 0) : undefined,
    promptTokens: Math.ceil(JSON.stringify(messages).length / 4),
  };
}

/** Builds the answer of a healthy provider: tool calls when tools are offered, the text otherwise. */
export function composeReply(request: ChatRequest, said: { id: string; text: string; cachedTokens: number }): Reply {
  const words = said.text.match(/\s*\S+/gu) ?? [];
  const fragments = request.tools.length > 0 ? [] : words.slice(0, request.outputTokensMax);
  const toolCalls = request.tools.slice(0, TOOL_CALLS_MAX);
  const choices = Array.from({ length: request.choiceCount }, (_, index): ReplyChoice => {
    const calls = toolCalls.map((tool, position) => ({
      id: `call_${said.id.slice(-8)}${index}${position}`,
      name: tool.name,
      fragments: tool.arguments.match(/.{1,7}/gsu) ?? [],
    }));
    const finishReason = calls.length > 0 ? 'tool_calls' : fragments.length < words.length ? 'length' : 'stop';
    return { index, fragments, toolCalls: calls, finishReason, topLogprobs: request.topLogprobs };
  });
  const tokens = choices.flatMap((choice) => [...choice.fragments, ...choice.toolCalls.flatMap((call) => call.fragments)]);
  return {
    id: `chatcmpl-${said.id}`,
    created: 1_790_000_000,
    model: `${request.model}-2026-08-01`,
    choices,
    usage: countUsage({ prompt: request.promptTokens, cached: said.cachedTokens, completion: tokens.length }),
  };
}

/** OpenAI's usage object with its details. */
export function countUsage(tokens: { prompt: number; cached: number; completion: number }): Usage {
  return {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    total_tokens: tokens.prompt + tokens.completion,
    prompt_tokens_details: { cached_tokens: tokens.cached, audio_tokens: 0, cache_write_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The complete answer as one `chat.completion` object. */
export function completionBody(reply: Reply): JsonObject {
  return {
    id: reply.id,
    object: 'chat.completion',
    created: reply.created,
    model: reply.model,
    choices: reply.choices.map((choice) => ({
      index: choice.index,
      message: {
        role: 'assistant',
        content: choice.toolCalls.length > 0 ? null : choice.fragments.join(''),
        ...(choice.toolCalls.length > 0 && { tool_calls: choice.toolCalls.map(wholeToolCall) }),
        refusal: null,
        annotations: [],
      },
      logprobs: logprobs(choice, choice.fragments),
      finish_reason: choice.finishReason,
    })),
    usage: reply.usage,
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  };
}

/** The answer as chunks in wire order: role, fragments, finish, and the usage chunk if requested. */
export function completionChunks(reply: Reply, request: ChatRequest): JsonObject[] {
  const chunk = (choices: readonly JsonObject[]): JsonObject => ({
    id: reply.id,
    object: 'chat.completion.chunk',
    created: reply.created,
    model: reply.model,
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
    choices,
    ...(request.includeUsage && { usage: null }),
    ...(request.includeObfuscation && { obfuscation: 'Zq3'.repeat(choices.length) }),
  });
  const bodies = reply.choices.map(choiceDeltas);
  const steps = Math.max(0, ...bodies.map((deltas) => deltas.length));
  const turns = Array.from({ length: steps }, (_, step) => bodies.flatMap((deltas) => deltas.slice(step, step + 1)));
  const chunks = turns.flat().map((choice) => chunk([choice]));
  return request.includeUsage ? [...chunks, { ...chunk([]), usage: reply.usage }] : chunks;
}

/** OpenAI's error envelope, with all four keys. */
export function errorBody(error: { message: string; type: string; param?: string; code?: string }): JsonObject {
  return {
    error: { message: error.message, type: error.type, param: error.param ?? null, code: error.code ?? null },
  };
}

function choiceDeltas(choice: ReplyChoice): JsonObject[] {
  const delta = (value: JsonObject, tokens: readonly string[] = []): JsonObject => ({
    index: choice.index,
    delta: value,
    logprobs: logprobs(choice, tokens),
    finish_reason: null,
  });
  const content = choice.toolCalls.length > 0 ? null : '';
  return [
    delta({ role: 'assistant', content, refusal: null }),
    ...choice.fragments.map((fragment) => delta({ content: fragment }, [fragment])),
    ...choice.toolCalls.flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
      ...call.fragments.map((fragment) => delta({ tool_calls: [{ index, function: { arguments: fragment } }] })),
    ]),
    { ...delta({}), finish_reason: choice.finishReason },
  ];
}

function wholeToolCall(call: ToolCall): JsonObject {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.fragments.join('') } };
}

function logprobs(choice: ReplyChoice, tokens: readonly string[]): JsonObject | null {
  const top = choice.topLogprobs;
  if (top === undefined || tokens.length === 0) return null;
  const content = tokens.map((token) => {
    const entry = { token, logprob: -0.125, bytes: [...new TextEncoder().encode(token)] };
    return { ...entry, top_logprobs: Array.from({ length: top }, () => entry) };
  });
  return { content, refusal: null };
}

function readTools(value: unknown): Tool[] {
  return (Array.isArray(value) ? value : []).map((item) => {
    const definition = asObject(asObject(item)['function']);
    const properties = asObject(asObject(definition['parameters'])['properties']);
    const filled = Object.entries(properties).map(([name, schema]) => [name, exampleOf(asObject(schema)['type'])]);
    return { name: String(definition['name']), arguments: JSON.stringify(Object.fromEntries(filled)) };
  });
}

function exampleOf(type: unknown): unknown {
  return type === 'number' || type === 'integer' ? 7 : type === 'boolean' ? true : 'Zürich ☂';
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
