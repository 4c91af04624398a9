import { callerLimitOf, objectsOf, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { Grammar } from '../anthropic/encode-schema.ts';
import { refusal, type Target, type UpstreamRequest } from '../dialect.ts';
import { lostCacheMarks } from '../cache-marks.ts';
import { lostFields } from '../lost-fields.ts';
import { CallerTools } from '../caller-tools.ts';
import { CachePoints } from './cache-points.ts';
import { refuseUnpricedSearch } from '../unpriced.ts';
import { capabilitiesOf, type Capabilities } from './capabilities.ts';
import { lacksThoughts } from './carried.ts';
import { encodeFormat } from './encode-format.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeSampling } from './encode-sampling.ts';
import { encodeThinking } from './encode-thinking.ts';
import { encodeTools } from './encode-tools.ts';
import { encodeToolName } from './tool-names.ts';

/** Encodes a request for Converse or ConverseStream. */
export function encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest {
  refuseOtherAnswers(chat);
  // Converse has no web search, whatever the catalogue says.
  refuseUnpricedSearch(chat, { ...target, maySearch: false });
  const capabilities = capabilitiesOf(target.model);
  const outputTokensMax = callerLimitOf(chat) ?? target.outputTokensMax;
  const thinking = encodeThinking(chat, { capabilities, outputTokens: outputTokensMax, lacksThoughts: () => lacksThoughts(chat, target) });
  const points = new CachePoints(capabilities);
  const tools = new CallerTools(chat, encodeToolName);
  // The models with a grammar are Claude models, which support the same schemas on every platform.
  const grammar = new Grammar(capabilities.hasSchemas);
  const format = encodeFormat(chat, grammar);
  const canForceTools = capabilities.canForceTools && thinking.takesForcing;
  const { toolConfig, dropped } = encodeTools(chat, { ...capabilities, canForceTools }, { all: tools, points, grammar });
  // Neither a thinking budget nor a grammar works with a prefilled answer.
  const takesPrefill = capabilities.takesPrefill && thinking.takesForcing && format.outputConfig['textFormat'] === undefined;
  const conversation = encodeMessages(chat, {
    capabilities,
    tools: toolConfig === undefined ? undefined : tools,
    target,
    points,
    takesPrefill,
  });
  points.keepLast([toolConfig?.tools ?? [], conversation.system, ...conversation.messages.map(({ content }) => content)]);
  const inference = encodeSampling(chat, { capabilities, thinking, outputTokensMax });
  const tier = encodeTier(chat['service_tier'], capabilities);
  const system = [...conversation.system, ...format.system];
  const outputConfig = { ...format.outputConfig, ...(thinking.effort === undefined ? {} : { effort: thinking.effort }) };
  const body: JsonObject = {
    messages: conversation.messages,
    ...part('system', system.length === 0 ? undefined : system),
    ...part('inferenceConfig', inference.config),
    ...part('toolConfig', toolConfig),
    ...part('outputConfig', outputConfig),
    ...part('additionalModelRequestFields', thinking.fields),
    ...part('serviceTier', tier),
  };
  const isStreaming = chat.stream === true && mayStream(chat, capabilities);
  const marks = lostMarks(chat, capabilities, points);
  return {
    url: addressOf(target, isStreaming),
    headers: encodeHeaders(target, isStreaming),
    body: JSON.stringify(body),
    dropped: [
      ...lostFields(chat, ['parallel_tool_calls']),
      ...marks,
      ...dropped,
      ...inference.dropped,
      ...format.dropped,
      ...(thinking.isDropped ? ['reasoning_effort'] : []),
      ...(tier === undefined && isLostTier(chat) ? ['service_tier'] : []),
    ],
  };
}

/** Whether the answer can be streamed. */
export function mayStream(chat: ChatRequest, { streamsTools }: Capabilities): boolean {
  return streamsTools || [chat['tools'], chat['functions']].every((tools) => objectsOf(tools).length === 0);
}

/** Returns the cache marks that are lost: the model does not support them there, or has no cache points left. */
function lostMarks(chat: ChatRequest, capabilities: Capabilities, { hasLostMark }: CachePoints): readonly string[] {
  const lost = lostCacheMarks(chat, capabilities.hasCachePoints ? 'brief' : 'none').filter((name) => name.includes('[]'));
  const onTools =
    capabilities.hasCachePoints && !capabilities.hasCachedTools
      ? lostCacheMarks(chat, 'none').filter((name) => name.startsWith('tools'))
      : [];
  return [...new Set([...lost, ...onTools, ...(hasLostMark ? ['messages[].content[].cache_control'] : [])])];
}

function refuseOtherAnswers(chat: ChatRequest): void {
  if ((chat.n ?? 1) > 1) throw refusal('n', "This model returns one choice per request: 'n' must be 1.");
  const { modalities } = chat;
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== 'text'))
    throw refusal('modalities', 'This model answers with text only.');
}

/** Returns the address. A model id may be an ARN or have a version after a colon, so it is encoded as one path segment. */
function addressOf(target: Target, isStreaming: boolean): string {
  const base = target.baseUrl.replace('{region}', target.aws?.region ?? 'us-east-1');
  return `${base}/model/${encodeURIComponent(target.model)}/${isStreaming ? 'converse-stream' : 'converse'}`;
}

function encodeHeaders({ apiKey, aws }: Target, isStreaming: boolean): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: isStreaming ? 'application/vnd.amazon.eventstream' : 'application/json',
    // With credentials, the request is signed when it is sent.
    ...(aws === undefined && apiKey !== undefined ? { authorization: `Bearer ${apiKey}` } : {}),
  };
}

function isLostTier({ service_tier: tier }: ChatRequest): boolean {
  return tier !== undefined && tier !== 'auto' && tier !== 'default';
}

/** Encodes the service tier. Faster ones cost more than the catalogue's prices, and the default needs no name. */
function encodeTier(tier: unknown, { hasFlexTier }: Capabilities): JsonObject | undefined {
  return tier === 'flex' && hasFlexTier ? { type: tier } : undefined;
}

/** Returns a part of the body, or nothing if it is empty. */
function part(name: string, value: JsonObject | readonly JsonObject[] | undefined): JsonObject {
  return value === undefined || Object.keys(value).length === 0 ? {} : { [name]: value };
}
