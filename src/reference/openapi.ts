import { z } from 'zod';
import { chatRequest } from './chat-request.ts';
import { chatCompletion, chatCompletionChunk, errorReply, model, modelList } from './replies.ts';

/** Describes the `/v1` API as an OpenAPI 3.1 document. `/docs` shows it, and `/api/openapi.json` serves it. */
export function describeInterface(publicUrl: string): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      description:
        'One base URL and one key for every model. The format is that of chat completions: every client works that lets you set the base URL and the key.',
    },
    servers: [{ url: `${publicUrl}/v1` }],
    security: [{ apiKey: [] }],
    paths: {
      '/chat/completions': { post: chatCompletions() },
      '/models': { get: listModels() },
      '/models/{id}': { get: retrieveModel() },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key created in the dashboard. Organization and project headers are ignored.',
        },
      },
      headers: HEADERS,
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, toJsonSchema(schema)])),
    },
  };
}

/** The parts of the document that our own pages and tests read. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

/** One operation of the document. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

const SCHEMAS = {
  ChatRequest: chatRequest,
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chatCompletionChunk,
  Model: model,
  ModelList: modelList,
  Error: errorReply,
} as const;

const text = (description: string): unknown => ({ description, schema: { type: 'string' } });
const whole = (description: string): unknown => ({ description, schema: { type: 'integer' } });

const HEADERS = {
  'x-request-id': text('The id of the request; include it when you report a problem.'),
  'retry-after': whole('Seconds to wait before the next attempt.'),
  'retry-after-ms': whole('The same wait in milliseconds.'),
  'x-ratelimit-limit-requests': whole('Requests per minute that the key may make.'),
  'x-ratelimit-remaining-requests': whole('Requests left.'),
  'x-ratelimit-reset-requests': text('Time until the full limit is available again, such as `1s` or `6m0s`.'),
  'x-ratelimit-limit-tokens': whole('Tokens per minute that the key may use.'),
  'x-ratelimit-remaining-tokens': whole('Tokens left.'),
  'x-ratelimit-reset-tokens': text('Time until the full limit is available again.'),
  'x-tollgate-cost': text('The exact cost of the request, in USD.'),
  'x-tollgate-dropped': text('Fields of the request that the model does not support and that were left out.'),
  'x-should-retry': text('`false` when the same request will fail again.'),
} as const;

const WAIT_HEADERS = ['retry-after', 'retry-after-ms'] as const;
const LIMIT_HEADERS = Object.keys(HEADERS).filter((name) => name.startsWith('x-ratelimit-'));

function chatCompletions(): OpenApiOperation {
  return {
    operationId: 'createChatCompletion',
    summary: 'Send messages to a model and receive a completion',
    description:
      'The worst-case cost is held before the provider is called; the real cost of the answer is charged before its end is sent. With `stream` the answer arrives as server-sent events: chunks, the usage if requested, then `data: [DONE]`. A stream that fails ends with one event that has an `error`.',
    requestBody: { required: true, content: { 'application/json': { schema: reference('ChatRequest') } } },
    responses: {
      200: {
        description: 'The answer.',
        headers: headersOf('x-request-id', 'x-tollgate-cost', 'x-tollgate-dropped', ...LIMIT_HEADERS),
        content: {
          'application/json': { schema: reference('ChatCompletion') },
          'text/event-stream': { schema: reference('ChatCompletionChunk') },
        },
      },
      400: refusal('A parameter is missing or wrong; `param` names it.'),
      401: refusal('The key is missing, unknown, expired or disabled.'),
      403: refusal(
        'The key may not use the model or be used from this address, its account is suspended, or the balance or a budget is too low.',
      ),
      404: refusal('There is no such model.'),
      429: refusal('A rate limit of the key or of the provider is reached.', ...WAIT_HEADERS, ...LIMIT_HEADERS),
      500: refusal('Something failed here or at the provider; nothing is charged, unless the message says so.', ...WAIT_HEADERS),
    },
  };
}

function listModels(): OpenApiOperation {
  return {
    operationId: 'listModels',
    summary: 'List the models',
    description: 'The models that the key may call.',
    responses: {
      200: answer('The models.', 'ModelList'),
      401: refusal('The key is missing or invalid.'),
      403: refusal('The key may not be used from this address, or its account is suspended.'),
      500: refusal('Something failed.', ...WAIT_HEADERS),
    },
  };
}

function retrieveModel(): OpenApiOperation {
  return {
    operationId: 'retrieveModel',
    summary: 'Retrieve a model',
    description: 'Ids contain slashes, which may be escaped or not.',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'For example `sandbox/echo`.' }],
    responses: {
      200: answer('The model.', 'Model'),
      401: refusal('The key is missing or invalid.'),
      403: refusal('The key may not call this model or be used from this address, or its account is suspended.'),
      404: refusal('There is no such model.'),
      500: refusal('Something failed.', ...WAIT_HEADERS),
    },
  };
}

function answer(description: string, schema: keyof typeof SCHEMAS): unknown {
  return { description, headers: headersOf('x-request-id'), content: { 'application/json': { schema: reference(schema) } } };
}

function refusal(description: string, ...headers: readonly string[]): unknown {
  return {
    description,
    headers: headersOf('x-request-id', 'x-should-retry', ...headers),
    content: { 'application/json': { schema: reference('Error') } },
  };
}

function reference(name: keyof typeof SCHEMAS): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function headersOf(...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function toJsonSchema(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}
