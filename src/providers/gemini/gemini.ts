import type { Provider } from '../provider.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { GeminiStream } from './decode-stream.ts';
import { isVideoOfYoutube } from './encode-parts.ts';
import { encodeRequest } from './encode-request.ts';

/** Google's own dialect, `generateContent`, at the Gemini API: the key goes into a header of its own. */
export const gemini: Provider = {
  encodeRequest: (chat, target) => encodeRequest(chat, target, 'gemini'),
  decodeReply,
  decodeStream: (context) => new GeminiStream(context),
  decodeFault,
  needsInlineMedia: true,
  fetchesItself: isVideoOfYoutube,
  breaksOff: true,
  recalls: true,
};

/** The same dialect at Vertex, where `Target.apiKey` is an access token: see service-account.ts. */
export const vertexGemini: Provider = { ...gemini, encodeRequest: (chat, target) => encodeRequest(chat, target, 'vertex') };
