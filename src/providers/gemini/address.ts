import type { Target } from '../dialect.ts';
import type { Service } from './draft.ts';

/** Returns the address of a call. A model with a slash, such as a tuned one, names its own collection. */
export function encodeUrl(target: Target, isStreaming: boolean): string {
  const model = target.model.includes('/') ? target.model : `models/${target.model}`;
  // Without `alt`, a stream is one JSON list, split at arbitrary places.
  return `${target.baseUrl}/${model}:${isStreaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

/** Returns the headers of a call. Vertex takes an access token. It takes a key only at its express address, which names no project. */
export function encodeHeaders({ apiKey, baseUrl }: Target, service: Service, isStreaming: boolean): Record<string, string> {
  const hasToken = service === 'vertex' && baseUrl.includes('/projects/');
  return {
    'content-type': 'application/json',
    accept: isStreaming ? 'text/event-stream' : 'application/json',
    ...(apiKey === undefined ? {} : hasToken ? { authorization: `Bearer ${apiKey}` } : { 'x-goog-api-key': apiKey }),
  };
}
