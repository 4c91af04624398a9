import type { Snippet } from '../../ui/code-block.tsx';

const MODEL = 'sandbox/echo';

/** Returns the same call in several languages, ready to run. */
export function snippetsFor(origin: string, secret: string): Snippet[] {
  const base = `${origin}/v1`;
  return [
    {
      id: 'curl',
      label: 'cURL',
      code: `curl ${base}/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${MODEL}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: 'python',
      label: 'Python',
      code: `from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${secret}")
answer = client.chat.completions.create(
    model="${MODEL}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}', apiKey: '${secret}' });
const answer = await client.chat.completions.create({
  model: '${MODEL}',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(answer.choices[0].message.content);`,
    },
    { id: 'env', label: 'Environment', code: envLines(base, secret) },
  ];
}

/** Returns an `.env` file with the variables that most SDKs read. */
export function envFile(origin: string, name: string, secret: string): string {
  return `# API key "${name.replaceAll(/[\r\n]/gu, ' ')}"\n${envLines(`${origin}/v1`, secret)}\n`;
}

function envLines(base: string, secret: string): string {
  return `OPENAI_BASE_URL=${base}\nOPENAI_API_KEY=${secret}`;
}
