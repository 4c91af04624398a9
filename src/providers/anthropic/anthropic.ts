import { withLegacyFunctions } from '../legacy-functions.ts';
import type { Dialect } from '../dialect.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { MessageStream } from './decode-stream.ts';
import type { Platform } from './draft.ts';
import { encodeRequest } from './encode-request.ts';

/** Claude at Anthropic itself. The base URL ends in `/v1`. */
const CLAUDE_API: Platform = {
  encodeAddress: ({ baseUrl }) => `${baseUrl}/messages`,
  encodeHeaders: ({ apiKey }, apiVersion) => ({
    'anthropic-version': apiVersion,
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  }),
  encodeModel: ({ model }) => ({ model }),
  limits: {},
  takesUrls: true,
  takesBetas: true,
  takesServiceTier: true,
  placesCacheMark: true,
};

/** Claude on Google's Vertex AI. The base URL ends in `/projects/{project}/locations/{location}`. */
const VERTEX: Platform = {
  encodeAddress: ({ baseUrl, model }, isStreaming) =>
    `${baseUrl}/publishers/anthropic/models/${model}:${isStreaming ? 'streamRawPredict' : 'rawPredict'}`,
  encodeHeaders: ({ apiKey }) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  encodeModel: () => ({ anthropic_version: 'vertex-2023-10-16' }),
  limits: { takesSchemas: false, takesSystemTurns: false },
  takesUrls: false,
  takesBetas: false,
  takesServiceTier: false,
  placesCacheMark: false,
};

/**
 * At 128,000 tokens an hour, longer answers may take more than ten minutes. Anthropic's own clients refuse to wait for
 * those without streaming.
 */
const WHOLE_TOKENS_MAX = 21_333;

/** The Messages API. Requests and answers are translated. */
export const anthropic: Dialect = dialectAt(CLAUDE_API);

/** The same dialect as served by Google: other addresses and fewer features. */
export const anthropicVertex: Dialect = { ...dialectAt(VERTEX), needsInlineMedia: true };

function dialectAt(platform: Platform): Dialect {
  return withLegacyFunctions({
    encodeRequest: (chat, target) => encodeRequest(chat, target, platform),
    decodeReply,
    decodeStream: (context) => new MessageStream(context),
    decodeFault,
    needsOutputLimit: true,
    breaksOff: true,
    recalls: true,
    wholeTokensMax: WHOLE_TOKENS_MAX,
  });
}
