import { curlCommand, KEY_VARIABLE } from './curl.ts';
import { snippets as t } from './strings/index.ts';
import type { Snippet } from './ui/code-block.tsx';

/** The request that a code example makes. */
export interface Example {
  readonly model: string;
  readonly prompt: string;
  /** A secret that is still in memory. Without one, examples read it from the environment. */
  readonly secret?: string | undefined;
}

/** Returns the base URL for API clients, on the origin of this page. */
export function baseUrl(): string {
  return `${location.origin}/v1`;
}

/** Returns the same small request for each supported tool and language. */
export function snippetsFor(example: Example): readonly Snippet[] {
  return [
    { id: 'curl', label: 'cURL', code: curl(example) },
    { id: 'python', label: 'Python', code: python(example) },
    { id: 'typescript', label: 'TypeScript', code: typescript(example) },
    { id: 'claude-code', label: 'Claude Code', code: claudeCode(example), note: t.claudeCode },
    { id: 'opencode', label: 'OpenCode', code: openCode(example) },
    { id: 'langchain', label: 'LangChain', code: langChain(example) },
    { id: 'env', label: '.env', code: environment(example) },
  ];
}

function curl({ model, prompt, secret }: Example): string {
  const json = JSON.stringify({ model, messages: [{ role: 'user', content: prompt }] });
  return curlCommand({ url: `${baseUrl()}/chat/completions`, secret, json });
}

function python({ model, prompt, secret }: Example): string {
  return `${secret === undefined ? 'import os\n' : ''}from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl()}",
    api_key=${secret === undefined ? `os.environ["${KEY_VARIABLE}"]` : `"${secret}"`},
)
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": ${JSON.stringify(prompt)}}],
)
print(answer.choices[0].message.content)`;
}

function typescript({ model, prompt, secret }: Example): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl()}',
  apiKey: ${secret === undefined ? `process.env.${KEY_VARIABLE}` : `'${secret}'`},
});
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: ${JSON.stringify(prompt)} }],
});
console.log(answer.choices[0].message.content);`;
}

/** Claude Code uses another API format, so a router translates in between. No comments: zsh would run them as commands. */
function claudeCode({ model, secret }: Example): string {
  const settings = {
    Providers: [
      { name: 'tollgate', api_base_url: `${baseUrl()}/chat/completions`, api_key: secret ?? `$${KEY_VARIABLE}`, models: [model] },
    ],
    Router: { default: `tollgate,${model}` },
  };
  return `npm install -g @anthropic-ai/claude-code @musistudio/claude-code-router
mkdir -p ~/.claude-code-router
cat > ~/.claude-code-router/config.json <<'END'
${JSON.stringify(settings, undefined, 2)}
END
ccr code`;
}

function openCode({ model, secret }: Example): string {
  const settings = {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      tollgate: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Tollgate',
        options: { baseURL: baseUrl(), apiKey: secret ?? `{env:${KEY_VARIABLE}}` },
        models: { [model]: {} },
      },
    },
  };
  return JSON.stringify(settings, undefined, 2);
}

function langChain({ model, prompt, secret }: Example): string {
  return `${secret === undefined ? 'import os\n' : ''}from langchain_openai import ChatOpenAI

llm = ChatOpenAI(
    model="${model}",
    base_url="${baseUrl()}",
    api_key=${secret === undefined ? `os.environ["${KEY_VARIABLE}"]` : `"${secret}"`},
)
print(llm.invoke(${JSON.stringify(prompt)}).content)`;
}

/** Returns an `.env` file with a new secret. */
export function envFile(name: string, secret: string): string {
  return `# API key "${name.replaceAll(/[\r\n]/gu, ' ')}"\n${environment({ secret })}\n`;
}

/** Most OpenAI-compatible programs read these two variables. */
function environment({ secret }: Pick<Example, 'secret'>): string {
  return `OPENAI_BASE_URL=${baseUrl()}\nOPENAI_API_KEY=${secret ?? `$${KEY_VARIABLE}`}`;
}
