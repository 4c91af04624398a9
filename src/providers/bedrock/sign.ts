import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials, UpstreamRequest } from '../dialect.ts';

const SERVICE = 'bedrock';

/** Signs a request with AWS Signature Version 4. A signature is valid for five minutes. */
export async function signRequest(request: UpstreamRequest, aws: AwsCredentials, nowMs: number): Promise<UpstreamRequest> {
  const { accessKeyId, secretAccessKey, sessionToken, region } = aws;
  const signer = new SignatureV4({
    service: SERVICE,
    region,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  });
  const { protocol, host, hostname, pathname } = new URL(request.url);
  const signed = await signer.sign(
    { method: 'POST', protocol, hostname, path: pathname, query: {}, headers: { ...request.headers, host }, body: request.body },
    { signingDate: new Date(nowMs) },
  );
  // The runtime sets the host header itself, from the same address.
  const { host: _, ...headers } = signed.headers;
  return { ...request, headers };
}
