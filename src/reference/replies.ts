import { z } from 'zod';

/** The responses of `/v1` as the API reference shows them. A test compares real responses with them. */

const tokens = z.int().min(0);

const usage = z
  .looseObject({
    prompt_tokens: tokens.describe('All tokens read, cached or not.'),
    completion_tokens: tokens.describe('All tokens written, including reasoning.'),
    total_tokens: tokens.describe('The sum of the two.'),
    prompt_tokens_details: z.looseObject({ cached_tokens: tokens.optional(), cache_write_tokens: tokens.optional() }).nullish(),
    completion_tokens_details: z.looseObject({ reasoning_tokens: tokens.optional() }).nullish(),
    cost: z.number().min(0).describe('The amount charged to the account, in USD.'),
  })
  .describe('The tokens used, and their cost.');

const toolCall = z.looseObject({
  id: z.string(),
  type: z.enum(['function', 'custom']),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
  custom: z.looseObject({ name: z.string(), input: z.string() }).optional(),
});

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

const annotation = z.looseObject({ type: z.string() });

/** A whole answer. */
export const chatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().describe('Seconds since 1970.'),
  model: z.string().describe('The id of the requested model.'),
  choices: z.array(
    z.looseObject({
      index: z.int().min(0),
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.string().nullable(),
        reasoning_content: z.string().nullish().describe('The reasoning of the model, where its provider reveals it.'),
        tool_calls: z.array(toolCall).nullish(),
        annotations: z.array(annotation).nullish(),
      }),
      finish_reason: finishReason,
      logprobs: z.looseObject({}).nullable(),
    }),
  ),
  usage,
});

/** One chunk of a stream. */
export const chatCompletionChunk = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int().min(0),
      delta: z.looseObject({
        role: z.literal('assistant').optional(),
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        tool_calls: z.array(z.looseObject({ index: z.int().min(0) })).nullish(),
      }),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullish(),
});

const price = z.string().regex(/^\d+(?:\.\d+)?$/);

/** A model as the list shows it. */
export const model = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Seconds since 1970.'),
  owned_by: z.string().describe('The provider.'),
  name: z.string(),
  context_length: z.int(),
  max_output_tokens: z.int(),
  pricing: z
    .looseObject({ prompt: price, completion: price, input_cache_read: price, input_cache_write: price })
    .describe('USD per token, as exact decimals.'),
  architecture: z.looseObject({
    modality: z.string(),
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
  }),
  supported_parameters: z.array(z.string()).describe('The parameters that are sent to the model, each on its own.'),
});

/** The list of models. */
export const modelList = z.looseObject({ object: z.literal('list'), data: z.array(model) });

/** The body of every error. */
export const errorReply = z.strictObject({
  error: z.strictObject({
    message: z.string().describe('What is wrong and what to do.'),
    type: z.string(),
    param: z.string().nullable().describe('The field of the request that is wrong.'),
    code: z.string().nullable().describe('For programs; docs/errors.md lists all.'),
  }),
});
