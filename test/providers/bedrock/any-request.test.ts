import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkChatRequest } from '../../../src/openai/check-request.ts';
import { bedrock, BEDROCK_URL } from '../../../src/providers/bedrock/bedrock.ts';
import { ProviderFault } from '../../../src/providers/dialect.ts';
import { checkConverse } from '../../simulator/converse-request.ts';
import { arbitraryChat } from '../any-chat.ts';

const MODELS = [
  'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'us.anthropic.claude-sonnet-5-5-v1:0',
  'anthropic.claude-opus-4-6-v1',
  'anthropic.claude-3-haiku-20240307-v1:0',
  'amazon.nova-2-lite-v1:0',
  'amazon.nova-pro-v1:0',
  'amazon.titan-text-express-v1',
  'meta.llama4-scout-17b-instruct-v1:0',
  'mistral.mistral-large-3',
  'openai.gpt-oss-120b-1:0',
  'arn:aws:bedrock:eu-central-1:1:application-inference-profile/own',
];

test('every request the gateway admits is accepted by Converse, or refused with its position', () => {
  fc.assert(
    fc.property(arbitraryChat(), fc.constantFrom(...MODELS), (body, model) => {
      const chat = checkChatRequest(structuredClone(body));
      const target = { baseUrl: BEDROCK_URL, apiKey: 'key', model, outputTokensMax: undefined };
      try {
        const request = bedrock.encodeRequest(chat, target);
        expect(checkConverse(JSON.parse(request.body), model)).toBeUndefined();
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error;
        expect(error).toMatchObject({ status: 400, param: expect.stringMatching(/^(?:messages\[\d+\]|tools)/u) as unknown });
      }
    }),
    { numRuns: 1000 },
  );
});
