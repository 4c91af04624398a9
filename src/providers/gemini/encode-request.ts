import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import { lostCacheMarks } from '../cache-marks.ts';
import { lostFields } from '../lost-fields.ts';
import type { Target, UpstreamRequest } from '../provider.ts';
import { encodeHeaders, encodeUrl } from './address.ts';
import { capabilitiesOf } from './capabilities.ts';
import { readContinuation } from './continuation.ts';
import { encodeGenerationConfig } from './encode-generation-config.ts';
import { encodeMessages } from './encode-messages.ts';
import { planOutput } from './encode-output-format.ts';
import { encodeSearch, encodeTools } from './encode-tools.ts';
import type { Encoding, Service } from './encoding.ts';

/** Encodes a chat request in Google's dialect. */
export function encodeRequest(chat: ChatRequest, target: Target, service: Service): UpstreamRequest {
  const encoding: Encoding = { chat, target, service, capabilities: capabilitiesOf(target.model), dropped: new Set() };
  const isStreaming = chat.stream === true;
  const body = encodeBody(encoding);
  reportIgnoredFields(encoding);
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
    ...encodeSearch(encoding),
    ...(output.hasTools ? encodeTools(encoding, { hasFormat: output.fields['responseMimeType'] !== undefined }) : {}),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(Array.isArray(chat['safety_settings']) ? { safetySettings: chat['safety_settings'] } : {}),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(target.continuation === undefined ? {} : { continuationToken: readContinuation(target.continuation).token }),
  };
}

/** Vertex does not select tiers by a request field, and faster tiers cost more than the catalogue's prices. */
function encodeServiceTier({ chat, service, dropped }: Encoding): string | undefined {
  const asked = chat['service_tier'];
  if (asked === undefined || asked === 'auto' || asked === 'default') return undefined;
  if (asked === 'flex' && service === 'gemini') return asked;
  dropped.add('service_tier');
  return undefined;
}

const HANDLED = [
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'safety_settings',
  'logprobs',
  'top_logprobs',
  'web_search_options',
];

function reportIgnoredFields({ chat, dropped }: Encoding): void {
  for (const name of [...lostCacheMarks(chat, 'none'), ...lostFields(chat, HANDLED)]) dropped.add(name);
}
