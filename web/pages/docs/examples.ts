import { curlCommand } from '../../curl.ts';
import { baseUrl, snippetsFor } from '../../snippets.ts';
import type { Snippet } from '../../ui/code-block.tsx';
import type { Endpoint } from './read-document.ts';

/** A built-in model. */
const MODEL = 'sandbox/echo';
const SHOWN = new Set(['curl', 'python', 'typescript']);

/** Returns example calls of an operation. */
export function examplesFor({ method, path }: Endpoint, prompt: string): readonly Snippet[] {
  if (method === 'POST') return snippetsFor({ model: MODEL, prompt }).filter(({ id }) => SHOWN.has(id));
  return [{ id: 'curl', label: 'cURL', code: curlCommand({ url: `${baseUrl()}${path.replace('{id}', MODEL)}` }) }];
}
