import { isObject, type JsonObject } from '../../../src/openai/types.ts';
import type { Seen } from './scenes.ts';

/** Reads a request of the chat-completions dialect. */
export function seeChat(body: JsonObject): Seen {
  const parts = list(body['messages']).flatMap(({ content }) => list(content));
  const urls = parts.map((part) => part['document_url'] ?? within(part['image_url'])['url'] ?? within(part['file'])['file_data']);
  return {
    media: urls.flatMap((url) => (typeof url === 'string' ? [url.replace(/^data:/u, '').replace(';base64,', ';')] : [])),
    limit: number(body['max_completion_tokens'] ?? body['max_tokens']),
    stops: texts(body['stop']),
    tools: list(body['tools']).map((tool) => String(within(tool['function'])['name'])),
    isJson: String(within(body['response_format'])['type']).startsWith('json_'),
  };
}

/** Reads a request to Claude. Where Claude cannot enforce a schema, a tool carries the answer. */
export function seeMessages(body: JsonObject): Seen {
  const sources = list(body['messages']).flatMap(({ content }) => list(content).map(({ source }) => within(source)));
  const tools = list(body['tools']).map(({ name }) => String(name));
  return {
    media: sources.flatMap((source) => ('data' in source ? [`${String(source['media_type'])};${String(source['data'])}`] : [])),
    limit: number(body['max_tokens']),
    stops: texts(body['stop_sequences']),
    tools,
    isJson: 'format' in within(body['output_config']) || tools.includes('answer_in_json'),
  };
}

/** Reads a request to Gemini. */
export function seeGenerateContent(body: JsonObject): Seen {
  const blobs = list(body['contents']).flatMap(({ parts }) => list(parts).map(({ inlineData }) => within(inlineData)));
  const config = within(body['generationConfig']);
  return {
    media: blobs.flatMap((blob) => ('data' in blob ? [`${String(blob['mimeType'])};${String(blob['data'])}`] : [])),
    limit: number(config['maxOutputTokens']),
    stops: texts(config['stopSequences']),
    tools: list(body['tools']).flatMap((tool) => list(tool['functionDeclarations']).map(({ name }) => String(name))),
    isJson: 'responseJsonSchema' in config,
  };
}

/** Reads a Converse request. Its formats have names instead of media types. */
export function seeConverse(body: JsonObject): Seen {
  const blocks = list(body['messages']).flatMap(({ content }) => list(content));
  const media = blocks.flatMap(({ image, document }) => [within(image), within(document)]).filter((one) => 'format' in one);
  const config = within(body['inferenceConfig']);
  return {
    media: media.map((one) => `${TYPES[String(one['format'])] ?? ''};${String(within(one['source'])['bytes'])}`),
    limit: number(config['maxTokens']),
    stops: texts(config['stopSequences']),
    tools: list(within(body['toolConfig'])['tools']).map((tool) => String(within(tool['toolSpec'])['name'])),
    isJson: 'textFormat' in within(body['outputConfig']),
  };
}

const TYPES: Readonly<Record<string, string>> = { png: 'image/png', pdf: 'application/pdf' };

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function within(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
