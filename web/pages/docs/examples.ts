import { baseUrl, KEY_VARIABLE, snippetsFor } from '../../snippets.ts';
import type { Snippet } from '../../ui/code-block.tsx';
import type { Endpoint } from './read-document.ts';

/** A model that every gate has. */
const MODEL = 'sandbox/echo';
const SHOWN = new Set(['curl', 'python', 'typescript']);

/** How to call an operation. */
export function examplesFor({ method, path }: Endpoint, prompt: string): readonly Snippet[] {
  if (method === 'POST') return snippetsFor({ model: MODEL, prompt }).filter(({ id }) => SHOWN.has(id));
  const address = `${baseUrl()}${path.replace('{id}', MODEL)}`;
  return [{ id: 'curl', label: 'cURL', code: `curl ${address} \\\n  -H "Authorization: Bearer $${KEY_VARIABLE}"` }];
}
