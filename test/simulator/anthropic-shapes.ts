import { z } from 'zod';

/** The shapes the Messages API accepts. Anything not listed is refused, as by the real API. */

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).optional();
const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/u),
  citations: z.array(z.unknown()).optional(),
  cache_control: cacheControl,
});
const mediaSource = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.base64() }),
  z.strictObject({ type: z.literal('url'), url: z.string().startsWith('https://') }),
]);
const image = z
  .strictObject({ type: z.literal('image'), source: mediaSource, cache_control: cacheControl })
  .refine(({ source }) => source.type === 'url' || /^image\/(?:jpeg|png|gif|webp)$/u.test(source.media_type), 'media type is not supported')
  .refine(
    ({ source }) => source.type === 'url' || source.media_type === 'image/png' || !source.data.startsWith('iVBOR'),
    'the image appears to be a image/png image',
  );
const documentSource = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.base64() }),
  z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  z.strictObject({ type: z.literal('url'), url: z.string().startsWith('https://') }),
]);
const document = z.strictObject({
  type: z.literal('document'),
  source: documentSource,
  title: z.string().optional(),
  cache_control: cacheControl,
});
const toolId = z.string().regex(/^[A-Za-z0-9_-]+$/u);
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: z.union([z.string(), z.array(z.union([text, image, document])).min(1)]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
});
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/u),
  input: z.record(z.string(), z.unknown()),
});
const thinkingBlock = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) });
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) });
const serverToolUse = z.strictObject({
  type: z.literal('server_tool_use'),
  id: toolId,
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const searchResult = z.strictObject({ type: z.literal('web_search_tool_result'), tool_use_id: toolId, content: z.array(z.unknown()) });

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(z.discriminatedUnion('type', [text, image, document, toolResult])).min(1) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [text, toolUse, thinkingBlock, redacted, serverToolUse, searchResult])).min(1),
  }),
  z.strictObject({ role: z.literal('system'), content: z.array(text).min(1) }),
]);

const clientTool = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/u),
  description: z.string().min(1).optional(),
  input_schema: z
    .looseObject({ type: z.literal('object') })
    .refine(
      (schema) => !['oneOf', 'allOf', 'anyOf'].some((keyword) => keyword in schema),
      'input_schema does not support oneOf, allOf, or anyOf at the top level',
    ),
  strict: z.boolean().optional(),
  cache_control: cacheControl,
});
const searchTool = z.strictObject({
  type: z.literal('web_search_20250305'),
  name: z.literal('web_search'),
  user_location: z.looseObject({ type: z.literal('approximate') }).optional(),
});

const serial = z.boolean().optional();
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: serial }),
  z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: serial }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: serial }),
  z.strictObject({ type: z.literal('none') }),
]);

const binding = z.strictObject({ prefix_mismatch_behavior: z.enum(['drop_block', 'error']) }).optional();
const display = z.enum(['summarized', 'omitted']).optional();
const thinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024), display, block_binding: binding }),
  z.strictObject({ type: z.literal('adaptive'), display, block_binding: binding }),
  z.strictObject({ type: z.literal('between_tools'), block_binding: binding }),
  z.strictObject({ type: z.literal('disabled') }),
]);

const fields = {
  max_tokens: z.int().min(0),
  messages: z.array(message).min(1),
  system: z.union([z.string().min(1), z.array(text).min(1)]).optional(),
  tools: z.array(z.union([clientTool, searchTool])).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).optional(),
    })
    .optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  stop_sequences: z.array(z.string().regex(/\S/u)).optional(),
  metadata: z
    .strictObject({
      user_id: z
        .string()
        .max(256)
        .regex(/^[^@]*$/u, 'user_id appears to contain an email address')
        .optional(),
    })
    .optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  stream: z.boolean().optional(),
};

/** A request to Anthropic's own API. */
export const messagesRequest = z.strictObject({ model: z.string(), cache_control: cacheControl, ...fields });

const { service_tier: _, ...vertexFields } = fields;
/** A request to Google's API: the model is in the address, the version in the body. */
export const vertexRequest = z.strictObject({ anthropic_version: z.literal('vertex-2023-10-16'), ...vertexFields });

export type MessagesRequest = Omit<z.infer<typeof messagesRequest>, 'model'>;
export type WireMessage = z.infer<typeof message>;
export type WireBlock = WireMessage['content'][number];
