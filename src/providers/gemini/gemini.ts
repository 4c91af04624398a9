import { withLegacyFunctions } from '../legacy-functions.ts';
import type { Dialect } from '../dialect.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { GeminiStream } from './decode-stream.ts';
import { isYoutubeVideo } from './encode-parts.ts';
import { encodeRequest } from './encode-request.ts';
import type { Service } from './draft.ts';

/** Google's own dialect, `generateContent`, at the Gemini API. The key goes into its own header. */
export const gemini: Dialect = dialectAt('gemini');

/** The same dialect at Vertex, where `Target.apiKey` is an access token: see vertex/service-account.ts. */
export const geminiVertex: Dialect = dialectAt('vertex');

function dialectAt(service: Service): Dialect {
  return withLegacyFunctions({
    encodeRequest: (chat, target) => encodeRequest(chat, target, service),
    decodeReply: (text, context) => decodeReply(text, context, service),
    decodeStream: (context) => new GeminiStream(context, service),
    decodeFault,
    needsInlineMedia: true,
    fetchesItself: isYoutubeVideo,
    breaksOff: true,
    limitsAllParts: true,
    recalls: true,
  });
}
