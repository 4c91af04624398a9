import { expect } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { bedrock, BEDROCK_URL } from '../../../src/providers/bedrock/bedrock.ts';
import type { ProviderFault, Target } from '../../../src/providers/dialect.ts';
import { checkConverse } from '../../simulator/converse-request.ts';
import { faultOf } from '../fault-of.ts';

export const SONNET_45 = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
export const SONNET_55 = 'us.anthropic.claude-sonnet-5-5-v1:0';
export const NOVA = 'amazon.nova-pro-v1:0';
export const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
export const TARGET: Target = { baseUrl: BEDROCK_URL, apiKey: 'key', model: NOVA, outputTokensMax: undefined };
export const WEATHER = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
export const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };

interface Encoded {
  readonly body: JsonObject;
  readonly dropped: readonly string[] | undefined;
}

/** Encodes a request, and checks that Converse accepts the body. */
export function encode(chat: Partial<ChatRequest>, target: Partial<Target> = {}): Encoded {
  const request = bedrock.encodeRequest({ ...CHAT, ...chat }, { ...TARGET, ...target });
  const body = JSON.parse(request.body) as JsonObject;
  expect(checkConverse(body)).toBeUndefined();
  return { body, dropped: request.dropped };
}

/** Returns the fault with which a request is refused before it is sent. */
export function refusalOf(chat: Partial<ChatRequest>, model: string): ProviderFault {
  return faultOf(() => bedrock.encodeRequest({ ...CHAT, ...chat }, { ...TARGET, model }));
}
