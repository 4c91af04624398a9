import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import { lostCacheMarks } from '../cache-marks.ts';
import { lostFields } from '../lost-fields.ts';
import type { Target, UpstreamRequest } from '../dialect.ts';
import { encodeHeaders, encodeUrl } from './address.ts';
import { capabilitiesOf } from './capabilities.ts';
import { readContinuation } from './continuation.ts';
import { encodeGenerationConfig } from './encode-generation-config.ts';
import { encodeMessages } from './encode-messages.ts';
import { planOutput } from './encode-format.ts';
import { encodeSearch, encodeTools } from './encode-tools.ts';
import type { Draft, Service } from './draft.ts';

/** Encodes a chat request in Google's dialect. */
export function encodeRequest(chat: ChatRequest, target: Target, service: Service): UpstreamRequest {
  const draft: Draft = { chat, target, service, capabilities: capabilitiesOf(target.model), dropped: new Set() };
  const isStreaming = chat.stream === true;
  const body = encodeBody(draft);
  reportIgnoredFields(draft);
  return {
    url: encodeUrl(target, isStreaming),
    headers: encodeHeaders(target, service, isStreaming),
    body: JSON.stringify(body),
    dropped: [...draft.dropped],
  };
}

function encodeBody(draft: Draft): JsonObject {
  const { chat, target } = draft;
  const output = planOutput(draft);
  const { contents, systemInstruction } = encodeMessages(draft, output.instruction);
  const generationConfig = encodeGenerationConfig(draft, output.fields);
  const serviceTier = encodeServiceTier(draft);
  return {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...encodeSearch(draft),
    ...(output.hasTools ? encodeTools(draft, { hasFormat: output.fields['responseMimeType'] !== undefined }) : {}),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(Array.isArray(chat['safety_settings']) ? { safetySettings: chat['safety_settings'] } : {}),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(target.continuation === undefined ? {} : { continuationToken: readContinuation(target.continuation).token }),
  };
}

/** Vertex does not select tiers by a request field, and faster tiers cost more than the catalogue's prices. */
function encodeServiceTier({ chat, service, dropped }: Draft): string | undefined {
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

function reportIgnoredFields({ chat, dropped }: Draft): void {
  for (const name of [...lostCacheMarks(chat, 'none'), ...lostFields(chat, HANDLED)]) dropped.add(name);
}
