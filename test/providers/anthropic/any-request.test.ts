import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkChatRequest } from '../../../src/openai/check-request.ts';
import type { JsonObject } from '../../../src/openai/types.ts';
import { anthropic, anthropicVertex } from '../../../src/providers/anthropic/anthropic.ts';
import { SIMULATED_MODELS } from '../../simulator/anthropic-rules.ts';
import { examine } from '../../simulator/anthropic.ts';
import { arbitraryChat } from '../any-chat.ts';

const MODELS = Object.keys(SIMULATED_MODELS);

test('every request the gateway admits is accepted by the provider', () => {
  const providers = [
    { provider: anthropic, baseUrl: 'http://a.example/v1' },
    { provider: anthropicVertex, baseUrl: 'http://a.example/v1/projects/simulated/locations/global' },
  ];
  fc.assert(
    fc.property(arbitraryChat(), fc.constantFrom(...MODELS), fc.constantFrom(...providers), (body, model, { provider, baseUrl }) => {
      const chat = checkChatRequest(structuredClone(body));
      const { url, headers, body: sent } = provider.encodeRequest(chat, { baseUrl, apiKey: 'key', model, outputTokensMax: undefined });
      const received = { method: 'POST', path: new URL(url).pathname, headers: { ...headers }, body: JSON.parse(sent) as JsonObject };
      expect(examine(received, 'key')).not.toHaveProperty('refusal');
    }),
    { numRuns: 500 },
  );
});
