import type { Detail } from './queries.ts';

/** Returns the request as a cURL command. The secret is unknown here, and messages are known only if recorded. */
export function toCurl(detail: Pick<Detail, 'model' | 'isStreaming' | 'content'>, origin: string): string {
  const body = recordedBody(detail) ?? {
    model: detail.model,
    ...(detail.isStreaming && { stream: true }),
    messages: [{ role: 'user', content: 'Hello' }],
  };
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer $KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quote(JSON.stringify(body))}`,
  ].join('\n');
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

/** Quotes a text for a shell. Inside single quotes, only the single quote itself needs escaping. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
