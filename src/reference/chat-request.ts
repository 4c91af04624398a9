import { z } from 'zod';
import { TOKENS_MAX } from '../openai/check-request.ts';

/**
 * The request of `POST /v1/chat/completions` as the API reference shows it. The gate does not use it: its own checks (src/openai) are
 * built for speed. A test sends the same values to both and expects the same verdict.
 */

const count = (max: number) => z.int().min(1).max(max);

/** Null means "not set" for every optional field of the dialect. */
function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.nullish().describe(description);
}

const functionName = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/);
const namedFunction = z.looseObject({ name: functionName });
const functionShape = z.looseObject({
  name: functionName,
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish().describe('A JSON Schema of the arguments; without it the function takes none.'),
  strict: z.boolean().nullish(),
});
const customShape = z.looseObject({ name: functionName, description: z.string().nullish(), format: z.looseObject({}).nullish() });

const tool = z.union([
  z.looseObject({ type: z.literal('function'), function: functionShape }),
  z.looseObject({ type: z.literal('custom'), custom: customShape }),
  z.looseObject({ type: z.string().regex(/^(?!(?:function|custom)$)/) }).describe('A tool of the provider, passed on unchanged.'),
]);

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required', 'any']),
  z.looseObject({ type: z.literal('function'), function: namedFunction }),
  z.looseObject({ type: z.literal('custom'), custom: namedFunction }),
  z.looseObject({
    type: z.literal('allowed_tools'),
    allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(z.looseObject({})).max(128) }),
  }),
]);

const responseFormat = z.union([
  z.looseObject({ type: z.enum(['text', 'json_object']) }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: z.string().max(64),
      description: z.string().nullish(),
      schema: z.looseObject({}).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** A part has its content in a field that is named like its type. */
const textPart = (type: string) => z.looseObject({ type: z.literal(type), [type]: z.string() });
const mediaPart = (type: string) => z.looseObject({ type: z.literal(type), [type]: z.union([z.string(), z.looseObject({})]) });
const MEDIA_PARTS = ['image_url', 'input_audio', 'file', 'video_url', 'audio_url', 'document_url'];
const textOrParts = (...parts: readonly z.ZodType[]) => z.union([z.string(), z.array(z.union(parts)).min(1).max(2048)]);

const functionCall = z.looseObject({ name: z.string(), arguments: z.string().nullish() });
const customCall = z.looseObject({ name: z.string(), input: z.string().nullish() });
const toolCall = z.union([
  z.looseObject({ id: z.string(), type: z.literal('function').nullish(), function: functionCall }),
  z.looseObject({ id: z.string(), type: z.literal('custom'), custom: customCall }),
]);

const message = z.union([
  z.looseObject({ role: z.enum(['developer', 'system']), content: textOrParts(textPart('text')), name: z.string().nullish() }),
  z.looseObject({
    role: z.literal('user'),
    content: textOrParts(textPart('text'), ...MEDIA_PARTS.map(mediaPart)),
    name: z.string().nullish(),
  }),
  z
    .looseObject({
      role: z.literal('assistant'),
      content: textOrParts(textPart('text'), textPart('refusal'), z.looseObject({ type: z.enum(['thinking', 'reasoning']) })).nullish(),
      refusal: z.string().nullish(),
      name: z.string().nullish(),
      tool_calls: z.array(toolCall).min(1).max(128).nullish(),
      function_call: functionCall.nullish(),
    })
    .describe('Needs content, tool_calls, function_call, a refusal or audio.'),
  z.looseObject({
    role: z.literal('tool'),
    content: textOrParts(textPart('text'), mediaPart('image_url'), mediaPart('file')),
    tool_call_id: z.string(),
  }),
  z.looseObject({ role: z.literal('function'), content: z.string().nullish(), name: z.string() }).describe('Deprecated; use tools.'),
]);

/** The whole request. Fields not listed here are passed on to the provider. */
export const chatRequest = z.looseObject({
  model: z.string().min(1).describe('The id of a model from `GET /v1/models`.'),
  messages: z.array(message).min(1).max(2048).describe('The conversation. Every tool call is followed by its results.'),
  max_completion_tokens: optional(count(TOKENS_MAX), 'The maximum number of output tokens, including reasoning.'),
  max_tokens: optional(count(TOKENS_MAX), 'The old name of `max_completion_tokens`.'),
  temperature: optional(z.number().min(0).max(2), 'How random the answer is.'),
  top_p: optional(z.number().min(0).max(1), 'The probability mass of the tokens to choose from.'),
  n: optional(count(128), 'How many choices to return; each is charged.'),
  stream: optional(z.boolean(), 'Stream the answer as server-sent events.'),
  stream_options: optional(
    z.looseObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() }),
    'Only with `stream`. `include_usage` adds a last chunk with the usage and no choices.',
  ),
  stop: optional(z.union([z.string(), z.array(z.string()).min(1).max(4)]), 'Texts at which the answer ends.'),
  presence_penalty: optional(z.number().min(-2).max(2), 'Penalises tokens that have already occurred.'),
  frequency_penalty: optional(z.number().min(-2).max(2), 'Penalises tokens by how often they have occurred.'),
  logit_bias: optional(z.record(z.string(), z.number().min(-100).max(100)), 'Token ids, and how much more likely each becomes.'),
  logprobs: optional(z.boolean(), 'Return the log probability of each token.'),
  top_logprobs: optional(z.int().min(0).max(20), 'How many alternatives to return; needs `logprobs`.'),
  seed: optional(z.number().multipleOf(1), 'For reproducible answers, where the model supports it; 64 bits at most.'),
  user: optional(z.string(), 'Deprecated; use `safety_identifier`.'),
  safety_identifier: optional(z.string().max(128), 'Identifies your end user to the provider without revealing who they are.'),
  prompt_cache_key: optional(z.string(), 'Requests with the same key share a cache.'),
  prompt_cache_options: optional(z.looseObject({}), 'How the prompt is cached.'),
  prompt_cache_retention: optional(z.string(), 'How long the prompt is cached.'),
  metadata: optional(
    z.record(z.string().max(64), z.string().max(512)).meta({ maxProperties: 16 }),
    'Up to 16 entries, passed on to the provider.',
  ),
  store: optional(z.boolean(), 'Passed on to the provider. Tollgate itself stores no text unless the account turns that on.'),
  service_tier: optional(
    z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'on_demand', 'performance', 'standard_only']),
    'How fast the provider should answer.',
  ),
  reasoning_effort: optional(
    z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default']),
    'How much a reasoning model thinks.',
  ),
  verbosity: optional(z.enum(['low', 'medium', 'high']), 'How detailed the answer is.'),
  modalities: optional(
    z
      .array(z.enum(['text', 'audio', 'image']))
      .min(1)
      .max(3),
    'The kinds of output in the answer.',
  ),
  audio: optional(z.looseObject({ format: z.string().nullish() }), 'Voice and format of a spoken answer.'),
  prediction: optional(z.looseObject({}), 'Content that most of the answer will match.'),
  tools: optional(z.array(tool).max(128), 'The tools that the model may call.'),
  tool_choice: optional(toolChoice, 'Whether and which tool to call; needs `tools`.'),
  parallel_tool_calls: optional(z.boolean(), 'Whether several tools may be called at once.'),
  response_format: optional(responseFormat, 'Text, any JSON, or JSON that matches a schema.'),
  web_search_options: optional(z.looseObject({}), 'For models that list it in `supported_parameters`; refused for others.'),
  moderation: optional(z.looseObject({}), 'Passed on to the provider.'),
  functions: optional(z.array(functionShape).min(1).max(128), 'Deprecated; use `tools`.'),
  function_call: optional(z.union([z.enum(['none', 'auto']), namedFunction]), 'Deprecated; use `tool_choice`.'),
});
