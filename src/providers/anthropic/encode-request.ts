import { callerLimitOf, isObject, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import { lostCacheMarks } from '../cache-marks.ts';
import { lostFields } from '../lost-fields.ts';
import { refusal, type Target, type UpstreamRequest } from '../dialect.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { Block, Draft, Platform } from './draft.ts';
import { CACHE_BREAK } from './encode-parts.ts';
import { encodeFormat } from './encode-format.ts';
import { encodeMessages, type Conversation } from './encode-messages.ts';
import { encodeSampling } from './encode-sampling.ts';
import { Grammar } from './encode-schema.ts';
import { encodeThinking, type Thinking } from './encode-thinking.ts';
import { encodeTools, isForced } from './encode-tools.ts';
import { callerTools } from './tool-names.ts';
import { lookUp } from '../look-up.ts';

/** Encodes a request for the Messages API. */
export function encodeRequest(chat: ChatRequest, target: Target, platform: Platform): UpstreamRequest {
  const capabilities = { ...capabilitiesOf(target.model), ...platform.limits };
  const draft: Draft = {
    chat,
    target,
    platform,
    capabilities,
    tools: callerTools(chat),
    grammar: new Grammar(capabilities.takesSchemas),
    dropped: new Set([...lostFields(chat, HANDLED), ...lostCacheMarks(chat, 'brief')]),
  };
  refuseAudio(chat);
  refuseSeveralChoices(chat);
  const outputTokensMax = limitOutput(draft);
  const format = encodeFormat(draft);
  const { tools, choice } = encodeTools(draft, format);
  const thinking = encodeThinking(draft, { outputTokensMax, isToolForced: isForced(choice) });
  const takesThinking = thinking.isOn && (!capabilities.bindsThinking || platform.takesBetas);
  const conversation = closeConversation(encodeMessages(draft, { takesThinking }), {
    instruction: format.instruction,
    takesPrefill: capabilities.takesPrefill && !thinking.isOn && format.grammar === undefined,
    isContinued: target.continuation !== undefined,
  });
  const caching = encodeCaching(draft);
  keepCacheBreaks(draft, [...tools, ...conversation.system, ...conversation.turns.flatMap(({ content }) => content)]);
  const isBinding = capabilities.bindsThinking && platform.takesBetas && conversation.hasThinking;
  const body: JsonObject = {
    ...platform.encodeModel(target),
    max_tokens: outputTokensMax,
    ...encodeSystem(conversation.system),
    messages: conversation.turns,
    ...caching,
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...encodeThinkingField(thinking, isBinding),
    ...encodeOutput({ effort: thinking.effort, format: format.grammar }),
    ...encodeSampling(draft, thinking),
    ...encodeIdentity(draft),
    ...encodeServiceTier(draft),
    ...(chat.stream === true ? { stream: true } : {}),
  };
  return {
    url: platform.encodeAddress(target, chat.stream === true),
    headers: {
      'content-type': 'application/json',
      accept: chat.stream === true ? 'text/event-stream' : 'application/json',
      // The newer version refuses sampling parameters even for models that support them.
      ...platform.encodeHeaders(target, capabilities.takesSampling ? '2023-06-01' : '2026-10-21'),
      ...(isBinding ? { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' } : {}),
    },
    body: JSON.stringify(body),
    ...(draft.dropped.size === 0 ? {} : { dropped: [...draft.dropped] }),
  };
}

const HANDLED = ['top_k', 'user', 'safety_identifier', 'parallel_tool_calls', 'web_search_options', 'cache_control'];

function refuseAudio({ modalities }: ChatRequest): void {
  if (!Array.isArray(modalities) || modalities.every((kind) => kind === 'text')) return;
  throw refusal('modalities', 'This model answers in text only.');
}

function refuseSeveralChoices({ n = 1 }: ChatRequest): void {
  if (n > 1) throw refusal('n', `This model returns one choice per request, but 'n' is ${n}.`);
}

/** Returns the output limit. It is required here, and one above the model's maximum is refused. */
function limitOutput({ chat, target, capabilities }: Draft): number {
  return Math.min(capabilities.outputTokensMax, target.outputTokensMax ?? callerLimitOf(chat) ?? capabilities.outputTokensMax);
}

interface Closing {
  readonly instruction: string | undefined;
  readonly takesPrefill: boolean;
  readonly isContinued: boolean;
}

/** Ends the conversation with a user turn, unless the model is to continue its own text. */
function closeConversation(conversation: Conversation, { instruction, takesPrefill, isContinued }: Closing): Conversation {
  const { system, turns } = conversation;
  if (instruction !== undefined) system.push({ type: 'text', text: instruction });
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || isContinued) return conversation;
  if (takesPrefill) trimEnd(last.content);
  else turns.push({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] });
  return conversation;
}

/** Trims the end of a prefilled answer: trailing white space is refused. */
function trimEnd(content: Block[]): void {
  const last = content.at(-1);
  if (last?.type === 'text') content[content.length - 1] = { ...last, text: String(last['text']).trimEnd() };
}

const CACHE_BREAKS_MAX = 4;

/** Encodes the cache mark of the request as a whole, which the provider places after the last block. */
function encodeCaching({ chat, platform, dropped }: Draft): JsonObject {
  if (chat['cache_control'] === undefined) return {};
  if (platform.placesCacheMark && isObject(chat['cache_control'])) return CACHE_BREAK;
  dropped.add('cache_control');
  return {};
}

/** Keeps the last four cache marks, the most allowed. Later marks cover everything before them, so they are the useful ones. */
function keepCacheBreaks({ chat, platform, dropped }: Draft, blocks: readonly JsonObject[]): void {
  const room = CACHE_BREAKS_MAX - (platform.placesCacheMark && isObject(chat['cache_control']) ? 1 : 0);
  const excess = blocks.filter((block) => block['cache_control'] !== undefined).slice(0, -room);
  for (const block of excess) delete block['cache_control'];
  if (excess.length > 0) dropped.add('messages[].content[].cache_control');
}

/** Encodes the instructions as plain text, or as blocks if they carry cache marks. */
function encodeSystem(system: readonly Block[]): JsonObject {
  if (system.length === 0) return {};
  const isMarked = system.some((block) => block['cache_control'] !== undefined);
  return { system: isMarked ? system : system.map((block) => block['text']).join('\n') };
}

/** Callers shorten and edit conversations. Thinking that no longer fits is to be ignored instead of failing the request. */
function encodeThinkingField({ field }: Thinking, isBinding: boolean): JsonObject {
  if (!isBinding) return field === undefined ? {} : { thinking: field };
  return { thinking: { ...(field ?? { type: 'adaptive' }), block_binding: { prefix_mismatch_behavior: 'drop_block' } } };
}

function encodeOutput(output: { readonly effort: string | undefined; readonly format: JsonObject | undefined }): JsonObject {
  const { effort, format } = output;
  if (effort === undefined && format === undefined) return {};
  return { output_config: { ...(effort === undefined ? {} : { effort }), ...(format === undefined ? {} : { format }) } };
}

const USER_ID_CHARACTERS_MAX = 256;
/** E-mail addresses and phone numbers. An id that looks like one is refused, because it must not identify a person. */
const PERSONAL = [/[^\s@]@[^\s@]+\.[^\s@]/u, /^(?=.*[^\d])\+?[\d\s().-]{7,}$/u];

function encodeIdentity({ chat, dropped }: Draft): JsonObject {
  const field = typeof chat['safety_identifier'] === 'string' ? 'safety_identifier' : 'user';
  const id = chat[field];
  if (typeof id !== 'string' || id === '') return {};
  if (id.length <= USER_ID_CHARACTERS_MAX && !PERSONAL.some((pattern) => pattern.test(id))) return { metadata: { user_id: id } };
  dropped.add(field);
  return {};
}

/** The tiers that are passed on. Faster ones are left out, because they cost more than the catalogue's prices. */
const SERVICE_TIERS: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only', standard_only: 'standard_only' };

function encodeServiceTier({ chat, platform, dropped }: Draft): JsonObject {
  const wanted = chat['service_tier'];
  if (typeof wanted !== 'string') return {};
  const tier = platform.takesServiceTier ? lookUp(SERVICE_TIERS, wanted) : undefined;
  if (tier !== undefined) return { service_tier: tier };
  if (wanted !== 'auto' && wanted !== 'default') dropped.add('service_tier');
  return {};
}
