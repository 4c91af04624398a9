import { checkSignature, encodeEvent, encodeException, type Signer } from './aws-wire.ts';
import { checkConverse, signatureOf } from './converse-request.ts';
import { respond, type Recorded } from './recorded.ts';

type JsonObject = Record<string, unknown>;

/** What the simulated model does with a valid request. */
export type ConverseBehaviour =
  | 'text'
  | 'tool_call'
  | 'parallel_tools'
  | 'tool_without_arguments'
  | 'reasoning'
  | 'reasoning_then_tool'
  | 'refusal'
  | 'length'
  | 'stop_sequence'
  | 'json'
  | 'cache_hit'
  | 'malformed'
  | 'throttled'
  | 'exception_in_stream'
  | 'cut';

/** A scripted Bedrock on loopback, with Converse and ConverseStream. */
export interface BedrockSimulator {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signer: Signer;
  /** The bodies received, and the complaints about them. */
  readonly requests: readonly { readonly model: string; readonly body: JsonObject; readonly complaint: string | undefined }[];
  behave(behaviour: ConverseBehaviour | Recorded): void;
  stop(): Promise<void>;
}

const PATH = /^\/model\/([^/]+)\/(converse|converse-stream)$/u;
const USAGE = { inputTokens: 11, outputTokens: 7, totalTokens: 18 };
const CACHE_USAGE = { ...USAGE, cacheReadInputTokens: 100, cacheWriteInputTokens: 40, totalTokens: 158 };

/** Starts the simulator on a free port of 127.0.0.1. It accepts its key as a bearer token, and signed requests. */
export function startBedrockSimulator(): BedrockSimulator {
  const apiKey = `bedrock-api-key-${crypto.randomUUID()}`;
  const signer = { accessKeyId: 'AKIDSIMULATED', secretAccessKey: crypto.randomUUID(), sessionToken: 'session', region: 'eu-central-1' };
  const requests: { model: string; body: JsonObject; complaint: string | undefined }[] = [];
  let behaviour: ConverseBehaviour | Recorded = 'text';
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const text = await request.text();
      const match = PATH.exec(new URL(request.url).pathname);
      if (request.method !== 'POST' || match === null) return refuse(404, 'UnknownOperationException', 'Unknown operation');
      const authorization = request.headers.get('authorization') ?? '';
      const complaint = authorization.startsWith('Bearer ')
        ? bearerComplaint(authorization, apiKey)
        : checkSignature(request, text, signer);
      if (complaint !== undefined) return refuse(403, 'UnrecognizedClientException', complaint);
      const body = JSON.parse(text) as JsonObject;
      const model = decodeURIComponent(match[1] ?? '');
      const isRefused = match[2] !== 'converse' && model.includes('llama') && body['toolConfig'] !== undefined;
      const invalid = isRefused ? "This model doesn't support tool use in streaming mode." : checkConverse(body, model);
      requests.push({ model, body, complaint: invalid });
      if (invalid !== undefined) return refuse(400, 'ValidationException', invalid);
      if (typeof behaviour !== 'string') return respond(behaviour, 'converse', match[2] !== 'converse');
      if (behaviour === 'throttled') return refuse(429, 'ThrottlingException', 'Too many requests, please wait before trying again.');
      const answer = answerOf(behaviour, model);
      return match[2] === 'converse' ? Response.json(wholeAnswer(answer)) : streamedAnswer(answer, behaviour);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    apiKey,
    signer,
    requests,
    behave: (next) => void (behaviour = next),
    stop: () => server.stop(true),
  };
}

function bearerComplaint(authorization: string, apiKey: string): string | undefined {
  return authorization === `Bearer ${apiKey}` ? undefined : 'The bearer token is invalid.';
}

function refuse(status: number, type: string, message: string): Response {
  return Response.json(
    { message },
    { status, headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/`, 'x-amzn-requestid': 'r' } },
  );
}

interface Answer {
  readonly blocks: readonly JsonObject[];
  readonly stopReason: string;
  readonly usage: JsonObject;
}

const tool = (toolUseId: string, name: string, input: JsonObject): JsonObject => ({ toolUse: { toolUseId, name, input } });
const thoughtOf = (model: string) => ({ reasoningContent: { reasoningText: { text: 'Let me think.', signature: signatureOf(model) } } });
const thought = thoughtOf('');
const weather = tool('tooluse_1', 'weather', { city: 'Zürich' });

const TEXT = { text: 'Hello, naïve ☕ world.' };
const PLAIN: Answer = { blocks: [TEXT], stopReason: 'end_turn', usage: USAGE };
const ANSWERS: Partial<Record<ConverseBehaviour, Answer>> = {
  tool_call: { ...PLAIN, blocks: [TEXT, weather], stopReason: 'tool_use' },
  parallel_tools: { ...PLAIN, blocks: [weather, tool('tooluse_2', 'clock', { zone: 'CET' })], stopReason: 'tool_use' },
  tool_without_arguments: { ...PLAIN, blocks: [tool('tooluse_3', 'clock', {})], stopReason: 'tool_use' },
  reasoning: { ...PLAIN, blocks: [thought, TEXT] },
  reasoning_then_tool: { ...PLAIN, blocks: [thought, TEXT, weather], stopReason: 'tool_use' },
  refusal: { ...PLAIN, blocks: [{ text: 'Sorry.' }], stopReason: 'guardrail_intervened' },
  length: { ...PLAIN, blocks: [{ text: 'Hello, na' }], stopReason: 'max_tokens' },
  stop_sequence: { ...PLAIN, blocks: [{ text: 'Hello' }], stopReason: 'stop_sequence' },
  json: { ...PLAIN, blocks: [{ text: '{"city":"Zürich"}' }] },
  cache_hit: { ...PLAIN, usage: CACHE_USAGE },
  malformed: { ...PLAIN, blocks: [], stopReason: 'malformed_tool_use' },
};

function answerOf(behaviour: ConverseBehaviour, model: string): Answer {
  const answer = ANSWERS[behaviour] ?? PLAIN;
  return { ...answer, blocks: answer.blocks.map((block) => (block === thought ? thoughtOf(model) : block)) };
}

function wholeAnswer({ blocks, stopReason, usage }: Answer): JsonObject {
  return { output: { message: { role: 'assistant', content: blocks } }, stopReason, usage, metrics: { latencyMs: 12 } };
}

function streamedAnswer({ blocks, stopReason, usage }: Answer, behaviour: ConverseBehaviour): Response {
  const messages = [encodeEvent('messageStart', { role: 'assistant' }), ...blocks.flatMap(blockEvents)];
  if (behaviour === 'exception_in_stream') messages.push(encodeException('throttlingException', 'Too many tokens.'));
  else messages.push(encodeEvent('messageStop', { stopReason }), encodeEvent('metadata', { usage, metrics: { latencyMs: 12 } }));
  const bytes = Buffer.concat(messages);
  const end = behaviour === 'cut' ? bytes.length - 20 : bytes.length;
  return new Response(bytes.subarray(0, end), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } });
}

function blockEvents(block: JsonObject, contentBlockIndex: number): Uint8Array[] {
  const delta = (value: JsonObject): Uint8Array => encodeEvent('contentBlockDelta', { contentBlockIndex, delta: value });
  const stop = encodeEvent('contentBlockStop', { contentBlockIndex });
  if (typeof block['text'] === 'string') return [...(block['text'].match(/.{1,6}/gsu) ?? []).map((text) => delta({ text })), stop];
  const { toolUse, reasoningContent } = block as {
    toolUse?: { toolUseId: string; name: string; input: JsonObject };
    reasoningContent?: typeof thought.reasoningContent;
  };
  if (toolUse !== undefined) {
    const { input, ...start } = toolUse;
    const pieces = Object.keys(input).length === 0 ? [] : (JSON.stringify(input).match(/.{1,6}/gsu) ?? []);
    return [
      encodeEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: start } }),
      ...pieces.map((text) => delta({ toolUse: { input: text } })),
      stop,
    ];
  }
  const { text = '', signature = '' } = reasoningContent?.reasoningText ?? {};
  return [
    ...(text.match(/.{1,6}/gsu) ?? []).map((part) => delta({ reasoningContent: { text: part } })),
    delta({ reasoningContent: { signature } }),
    stop,
  ];
}
