import { withLegacyFunctions } from '../legacy-functions.ts';
import type { Provider, Target, UpstreamRequest } from '../provider.ts';
import { decodeReply } from './decode-reply.ts';
import { ConverseStream } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeFault } from './faults.ts';

/** Where Bedrock is; the region is filled in from the credentials. */
export const BEDROCK_URL = 'https://bedrock-runtime.{region}.amazonaws.com';

/** Amazon Bedrock's Converse: one dialect for the models of many makers. */
export const bedrock: Provider = withLegacyFunctions({
  encodeRequest,
  decodeReply,
  decodeStream: (context) => new ConverseStream(context),
  decodeFault,
  framing: 'aws-event-stream',
  needsInlineMedia: true,
  recalls: true,
  sign,
});

/** Without credentials the key is in the headers already. */
async function sign(request: UpstreamRequest, { aws }: Target, nowMs: number): Promise<UpstreamRequest> {
  if (aws === undefined) return request;
  // Loaded with the first signature: most installations never need it.
  const { signRequest } = await import('./sign.ts');
  return signRequest(request, aws, nowMs);
}
