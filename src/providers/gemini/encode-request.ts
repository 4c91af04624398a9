import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import type { Target, UpstreamRequest } from '../provider.ts';
import { encodeHeaders, encodeUrl } from './address.ts';
import { readContinuation } from './continuation.ts';
import { encodeGenerationConfig } from './encode-generation-config.ts';
import { encodeMessages } from './encode-messages.ts';
import { planOutput } from './encode-output-format.ts';
import { encodeTools } from './encode-tools.ts';
import { beginEncoding, refusal, type Encoding, type Service } from './encoding.ts';

/** Puts a chat request into Google's dialect. */
export function encodeRequest(chat: ChatRequest, target: Target, service: Service): UpstreamRequest {
  const encoding = beginEncoding(chat, target, service);
  const isStreaming = chat.stream === true;
  refuseFunctions(chat);
  const body = encodeBody(encoding);
  nameIgnoredFields(encoding);
  return {
    url: encodeUrl(target, isStreaming),
    headers: encodeHeaders(target, service, isStreaming),
    body: JSON.stringify(body),
    dropped: [...encoding.dropped],
  };
}

function encodeBody(encoding: Encoding): JsonObject {
  const { chat, target } = encoding;
  const output = planOutput(encoding);
  const { contents, systemInstruction } = encodeMessages(encoding, output.instruction);
  const generationConfig = encodeGenerationConfig(encoding, output.fields);
  const serviceTier = encodeServiceTier(encoding);
  return {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...(output.hasTools ? encodeTools(encoding, { hasFormat: output.fields['responseMimeType'] !== undefined }) : {}),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(Array.isArray(chat['safety_settings']) ? { safetySettings: chat['safety_settings'] } : {}),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(target.continuation === undefined ? {} : { continuationToken: readContinuation(target.continuation).token }),
  };
}

const SERVICE_TIERS: ReadonlyMap<unknown, string> = new Map([
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
]);

/** Vertex sells its tiers by other means than a field of the request. */
function encodeServiceTier({ chat, service, dropped }: Encoding): string | undefined {
  const asked = chat['service_tier'];
  if (asked === undefined || asked === 'auto' || asked === 'default') return undefined;
  const tier = service === 'gemini' ? SERVICE_TIERS.get(asked) : undefined;
  if (tier === undefined) dropped.add('service_tier');
  return tier;
}

/** The old spelling of tools would also have to be the spelling of the answer, which no current client reads. */
function refuseFunctions(chat: ChatRequest): void {
  if (chat['functions'] !== undefined) throw refusal('functions', "This model does not take 'functions': send them as 'tools'.");
}

const HONOURED: ReadonlySet<string> = new Set(
  `model messages stream stream_options n max_tokens max_completion_tokens temperature top_p top_k presence_penalty
  frequency_penalty stop seed response_format tools tool_choice reasoning_effort service_tier modalities safety_settings`.split(/\s+/),
);

/** What is the default anyway is no loss. */
const HARMLESS: Readonly<Record<string, unknown>> = { store: false, parallel_tool_calls: true, logprobs: false };

function nameIgnoredFields({ chat, dropped }: Encoding): void {
  for (const name of Object.keys(chat)) {
    const isLost = !HONOURED.has(name) && chat[name] !== undefined && chat[name] !== null && HARMLESS[name] !== chat[name];
    if (isLost) dropped.add(name);
  }
  if (chat.messages.some((message) => typeof message['name'] === 'string' && message['role'] !== 'function'))
    dropped.add('messages[].name');
}
