import type { Detail } from './queries.ts';

/** The request as a command. The secret is not known here, and the messages only where they were recorded. */
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
    // Then the example will do.
    return undefined;
  }
}

/** For a shell: nothing inside single quotes means anything, but a single quote ends them. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
