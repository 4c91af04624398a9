import type { ChatBody } from '../../chat.ts';
import { curlCommand, KEY_VARIABLE } from '../../curl.ts';
import { baseUrl } from '../../snippets.ts';
import type { Snippet } from '../../ui/code-block.tsx';

/** Returns the playground's call as code, streaming or not. */
export function codeFor(body: ChatBody, isStreamed: boolean): readonly Snippet[] {
  return [
    { id: 'curl', label: 'cURL', code: curl(body, isStreamed) },
    { id: 'python', label: 'Python', code: python(body, isStreamed) },
    { id: 'typescript', label: 'TypeScript', code: typescript(body, isStreamed) },
  ];
}

function curl(body: ChatBody, isStreamed: boolean): string {
  const json = JSON.stringify({ ...body, ...(isStreamed && { stream: true }) }, undefined, 2);
  return curlCommand({ url: `${baseUrl()}/chat/completions`, json, isStreamed });
}

/** JSON of strings, numbers and lists is also valid Python. */
function python(body: ChatBody, isStreamed: boolean): string {
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${indent(JSON.stringify(value, undefined, 4), 4)},`);
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl()}", api_key=os.environ["${KEY_VARIABLE}"])
${
  isStreamed
    ? `stream = ${pythonCall([...fields, '    stream=True,'])}
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`
    : `answer = ${pythonCall(fields)}
print(answer.choices[0].message.content)`
}`;
}

function pythonCall(lines: readonly string[]): string {
  return `client.chat.completions.create(\n${lines.join('\n')}\n)`;
}

function typescript(body: ChatBody, isStreamed: boolean): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl()}', apiKey: process.env.${KEY_VARIABLE} });
${
  isStreamed
    ? `const stream = ${typescriptCall({ ...body, stream: true })}
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`
    : `const answer = ${typescriptCall(body)}
console.log(answer.choices[0]?.message.content);`
}`;
}

function typescriptCall(body: ChatBody): string {
  return `await client.chat.completions.create(${JSON.stringify(body, undefined, 2)});`;
}

function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
