import { withLegacyFunctions } from '../legacy-functions.ts';
import type { Dialect, Target, UpstreamRequest } from '../dialect.ts';
import { capabilitiesOf } from './capabilities.ts';
import { decodeReply } from './decode-reply.ts';
import { ConverseStream } from './decode-stream.ts';
import { encodeRequest, mayStream } from './encode-request.ts';
import { decodeFault } from './decode-fault.ts';

/** The address of Bedrock. The region is filled in from the credentials. */
export const BEDROCK_URL = 'https://bedrock-runtime.{region}.amazonaws.com';

/** Amazon Bedrock's Converse API: one dialect for the models of many makers. */
export const bedrock: Dialect = withLegacyFunctions({
  encodeRequest,
  decodeReply,
  decodeStream: (context) => new ConverseStream(context),
  decodeFault,
  streams: (chat, model) => mayStream(chat, capabilitiesOf(model)),
  framing: 'aws-event-stream',
  needsInlineMedia: true,
  recalls: true,
  sign,
});

/** Without credentials, the key is already in the headers. */
async function sign(request: UpstreamRequest, { aws }: Target, nowMs: number): Promise<UpstreamRequest> {
  if (aws === undefined) return request;
  // Loaded on first use: most installations never need it.
  const { signRequest } = await import('./sign.ts');
  return signRequest(request, aws, nowMs);
}
