import type { ChatBody } from '../../chat.ts';
import { baseUrl, KEY_VARIABLE } from '../../snippets.ts';
import type { Snippet } from '../../ui/code-block.tsx';

/** The call of the playground as code, streamed as it is here. */
export function codeFor(body: ChatBody): readonly Snippet[] {
  return [
    { id: 'curl', label: 'cURL', code: curl(body) },
    { id: 'python', label: 'Python', code: python(body) },
    { id: 'typescript', label: 'TypeScript', code: typescript(body) },
  ];
}

function curl(body: ChatBody): string {
  const json = JSON.stringify({ ...body, stream: true }, undefined, 2).replaceAll("'", String.raw`'\''`);
  return `curl -N ${baseUrl()}/chat/completions \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`;
}

/** JSON of texts, numbers and lists is Python as well. */
function python(body: ChatBody): string {
  const fields = Object.entries(body).map(([name, value]) => `    ${name}=${indent(JSON.stringify(value, undefined, 4), 4)},`);
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl()}", api_key=os.environ["${KEY_VARIABLE}"])
stream = client.chat.completions.create(
${fields.join('\n')}
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`;
}

function typescript(body: ChatBody): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl()}', apiKey: process.env.${KEY_VARIABLE} });
const stream = await client.chat.completions.create(${JSON.stringify({ ...body, stream: true }, undefined, 2)});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`;
}

function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
