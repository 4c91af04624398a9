import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MAIN } from '../services/built.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { findFreePort } from '../services/free-port.ts';
import { seedRandom } from '../simulator/random.ts';
import { startUpstream } from './upstream.ts';

/** A gate with a user, credit, keys and a week of traffic, all created through its public interfaces. */
export interface World {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  /** The session cookie of the user. */
  readonly cookie: { readonly name: string; readonly value: string };
  /** The session cookie of an operator with a second factor, who is another person. */
  readonly operatorCookie: World['cookie'];
  readonly accountId: string;
  readonly keyId: string;
  /** The id of an answered request. */
  readonly requestId: string;
  /** The id of a request that was refused before it reached a provider. */
  readonly refusedId: string;
  /** Credits the user's account. */
  credit(usd: string): Promise<void>;
  /** Everything the gate printed. */
  output(): string;
  close(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');
const DAY_MS = 86_400_000;
const STEP_MS = DAY_MS / 8;
const READY_WITHIN_MS = 60_000;
const CLOCK_IS_SET = 'the clock is set';
const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'a gate on a mountain road' } as const;
const OPERATOR = { name: 'Grace', email: 'grace@example.com', password: 'a keeper of the mountain gate' } as const;
const MODELS = [
  'openai/gpt-5.4-mini',
  'openai/gpt-5.4',
  'mistral/mistral-medium-3.5',
  'deepseek/deepseek-v4-flash',
  'sandbox/story',
] as const;
const KEYS = keysOf({ budgetUsd: '0.02', expiresInDays: 6 });
/** None of these needs attention. */
const HEALTHY_KEYS = keysOf({ budgetUsd: '20', expiresInDays: 60 });

function keysOf({ budgetUsd, expiresInDays }: { budgetUsd: string; expiresInDays: number }) {
  return [
    ['production', '--budget-usd', '5', '--budget-period', 'day'],
    ['notebook', '--budget-usd', budgetUsd, '--budget-period', 'week'],
    ['nightly-evaluation', '--rpm', '120', '--expires', new Date(Date.now() + expiresInDays * DAY_MS).toISOString()],
  ] as const;
}

const PROMPT = promptOf(40);
const LONG_PROMPT = promptOf(4000);

function promptOf(sentences: number): string {
  return `Tell me about the road. ${'It is long and winding. '.repeat(sentences)}`;
}

/** What the gate sells, who else lets people in, and limits for weeks of traffic within a minute. */
const SALE = `limits: { requests_per_minute: 60000, tokens_per_minute: 100000000 }
accounts: { sign_in: { oidc: { name: Acme, issuer: 'https://id.example.com', client_id: gate, client_secret: secret } } }
payments: { bank_transfer: 'Bank of the Pass, IBAN XX00 0000 0000 0000' }
plans:
  - { id: walker, name: Walker, price_usd: 10, included_usd: 12, requests_per_minute: 60 }
  - { id: carrier, name: Carrier, price_usd: 100, included_usd: 130, requests_per_minute: 6000, overflow: stop }
`;

/** What the world is to show. */
interface WorldOptions {
  /** How many days of traffic. With none, the account is as new as it can be. */
  readonly days?: number;
  readonly creditUsd?: string;
  /** An account in daily use: long prompts, a verified address, and nothing that needs attention. */
  readonly isHealthy?: boolean;
}

/** Starts it. */
export async function openWorld({ days = 7, creditUsd = '25', isHealthy = false }: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-world-'));
  const upstream = startUpstream();
  const databasePath = join(folder, 'data', 'tollgate.db');
  await placeMigratedDatabase(databasePath);
  const gate = await startGate(folder, { upstreamUrl: upstream.url, backMs: days * DAY_MS });
  const cookie = await signUp(gate.url, PERSON);
  const operatorCookie = await signUp(gate.url, OPERATOR);
  makeOperator(databasePath, { areVerified: isHealthy });
  const { id: accountId } = JSON.parse(await gate.command('account', 'show', '--email', PERSON.email, '--json')) as { id: string };
  const credit = async (usd: string): Promise<void> => {
    await gate.command('account', 'credit', '--email', PERSON.email, '--usd', usd, '--reason', 'first top-up');
  };
  if (creditUsd !== '0') await credit(creditUsd);
  const keys: readonly { id: string; secret: string }[] =
    days === 0 ? [] : await Promise.all((isHealthy ? HEALTHY_KEYS : KEYS).map(([name, ...options]) => gate.makeKey(name, options)));
  const traffic = { secrets: keys.map(({ secret }) => secret), steps: (days * DAY_MS) / STEP_MS, prompt: isHealthy ? LONG_PROMPT : PROMPT };
  const requestId = days === 0 ? '' : await makeTraffic(gate, traffic);
  const refusedId = keys[0] === undefined ? '' : await sendRefused(gate.url, keys[0].secret, cookie);
  return {
    url: gate.url,
    email: PERSON.email,
    password: PERSON.password,
    cookie,
    operatorCookie,
    accountId,
    keyId: keys[0]?.id ?? '',
    requestId,
    refusedId,
    credit,
    output: () => gate.output(),
    close: async () => {
      await gate.stop();
      await upstream.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

interface RunningGate {
  readonly url: string;
  output(): string;
  command(...words: readonly string[]): Promise<string>;
  makeKey(name: string, options: readonly string[]): Promise<{ id: string; secret: string }>;
  advanceClock(): Promise<void>;
  stop(): Promise<void>;
}

async function startGate(folder: string, { upstreamUrl, backMs }: { upstreamUrl: string; backMs: number }): Promise<RunningGate> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = join(folder, 'tollgate.yaml');
  const providers = ['openai', 'mistral', 'deepseek'].map((id) => `  ${id}: { base_url: ${upstreamUrl} }`);
  writeFileSync(settings, `providers:\n${providers.join('\n')}\n${SALE}`);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    PORT: String(port),
    PUBLIC_URL: url,
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: settings,
    OPENAI_API_KEY: 'key',
    MISTRAL_API_KEY: 'key',
    DEEPSEEK_API_KEY: 'key',
    CLOCK_BACK_MS: String(backMs),
    CLOCK_STEP_MS: String(STEP_MS),
  };
  const run = (words: readonly string[]) =>
    Bun.spawn([process.execPath, '--preload', './test/browser/shift-clock.ts', MAIN, ...words], {
      cwd: ROOT,
      env: environment,
      stdout: 'pipe',
      stderr: 'pipe',
    });
  const server = run(['serve']);
  let printed = '';
  const listen = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) printed += decoder.decode(piece, { stream: true });
  };
  void listen(server.stdout);
  void listen(server.stderr);
  await waitUntilReady(url, () => printed);
  const command = async (...words: readonly string[]): Promise<string> => {
    const child = run([...words, '--json']);
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(`${words.join(' ')}: ${error}`);
    return out;
  };
  return {
    url,
    output: () => printed,
    command,
    makeKey: async (name, options) =>
      JSON.parse(await command('key', 'create', '--account', PERSON.email, '--name', name, ...options)) as { id: string; secret: string },
    advanceClock: async () => {
      const before = printed.split(CLOCK_IS_SET).length;
      server.kill('SIGUSR2');
      while (printed.split(CLOCK_IS_SET).length === before) await Bun.sleep(5);
    },
    stop: async () => {
      server.kill('SIGTERM');
      await server.exited;
    },
  };
}

async function waitUntilReady(url: string, output: () => string): Promise<void> {
  const giveUpAtMs = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return;
    if (performance.now() > giveUpAtMs) throw new Error(`The gate did not become ready:\n${output()}`);
    await Bun.sleep(50);
  }
}

/** Makes the operator one directly in the database: the invitation link, the second factor and the emails have their own tests. */
function makeOperator(path: string, { areVerified }: { areVerified: boolean }): void {
  const database = new Database(path);
  database.run('PRAGMA busy_timeout = 5000');
  database.run('UPDATE people SET two_factor_enabled = 1 WHERE email = ?', [OPERATOR.email]);
  database.run('UPDATE accounts SET is_admin = 1 WHERE email = ?', [OPERATOR.email]);
  database.run('UPDATE sessions SET passed_second_factor = 1');
  if (areVerified) database.run('UPDATE people SET email_verified = 1');
  database.close();
}

async function signUp(url: string, person: typeof PERSON | typeof OPERATOR): Promise<World['cookie']> {
  const answer = await fetch(`${url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(person),
  });
  if (!answer.ok) throw new Error(`Signing up failed: ${await answer.text()}`);
  const [, name, value] =
    /^([^=;]*session_token)=([^;]+)/u.exec(answer.headers.getSetCookie().find((line) => line.includes('session_token=')) ?? '') ?? [];
  if (name === undefined || value === undefined) throw new Error('Signing up created no session.');
  return { name, value };
}

/** Sends requests at every clock step through all keys and models, more by day than by night. Returns the id of the last answered one. */
async function makeTraffic(
  gate: RunningGate,
  { secrets, steps, prompt }: { secrets: readonly string[]; steps: number; prompt: string },
): Promise<string> {
  const random = seedRandom(11);
  let answered = '';
  for (let step = 0; step <= steps; step += 1) {
    const count = step % 8 < 3 ? 2 : 4 + random.below(7);
    const requests = Array.from({ length: count }, () => ({
      secret: random.pick(secrets),
      model: random.pick(MODELS),
      isStreaming: random.below(10) < 7,
      prompt,
    }));
    const answers = await Promise.all(requests.map((request) => ask(gate.url, request)));
    answered = answers.findLast((answer) => answer !== undefined) ?? answered;
    if (step < steps) await gate.advanceClock();
  }
  return answered;
}

/** Sends wrong requests and returns the id of the last one, as soon as it is listed. */
async function sendRefused(url: string, secret: string, { name, value }: World['cookie']): Promise<string> {
  const mistakes = [{ model: 'openai/gpt-4' }, { messages: [] }, { n: 0 }, { n: 0 }, { n: 0 }, { n: 0 }, { temperature: 9, stream: true }];
  let refusedId = '';
  for (const mistake of mistakes) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODELS[0], messages: [{ role: 'user', content: 'Hello' }], ...mistake }),
    });
    refusedId = answer.headers.get('x-request-id') ?? '';
  }
  for (;;) {
    const answer = await fetch(`${url}/api/requests/refused?id=${refusedId}`, { headers: { cookie: `${name}=${value}` } });
    if (((await answer.json()) as { refused: readonly unknown[] }).refused.length === 1) return refusedId;
    await Bun.sleep(50);
  }
}

async function ask(
  url: string,
  { secret, model, isStreaming, prompt }: { secret: string; model: string; isStreaming: boolean; prompt: string },
): Promise<string | undefined> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream: isStreaming,
      max_completion_tokens: 400,
      messages: [{ role: 'user', content: prompt }],
    }),
  });
  await answer.text();
  return answer.ok ? (answer.headers.get('x-request-id') ?? undefined) : undefined;
}
