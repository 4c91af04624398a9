import { curlCommand } from '../../curl.ts';
import { baseUrl } from '../../snippets.ts';
import type { Detail } from './queries.ts';

/** Returns the request as a cURL command. The secret is unknown here, and messages are known only if recorded. */
export function toCurl(detail: Pick<Detail, 'model' | 'isStreaming' | 'content'>): string {
  const body = recordedBody(detail) ?? {
    model: detail.model,
    ...(detail.isStreaming && { stream: true }),
    messages: [{ role: 'user', content: 'Hello' }],
  };
  return curlCommand({ url: `${baseUrl()}/chat/completions`, json: JSON.stringify(body), isStreamed: detail.isStreaming });
}

function recordedBody({ content }: Pick<Detail, 'content'>): unknown {
  if (content === null || content.isCut) return undefined;
  try {
    return JSON.parse(content.request);
  } catch {
    // Fall back to the example body.
    return undefined;
  }
}
