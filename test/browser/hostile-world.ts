import { sql } from 'kysely';
import { expect } from 'bun:test';
import { Invitations } from '../../src/accounts/invitations.ts';
import { PromoCodes } from '../../src/accounts/promo-codes.ts';
import { addDeliveries } from '../../src/alerts/deliveries.ts';
import { usd } from '../conformance/money-in/stage.ts';
import type { Stage, Visit } from './key-stage.ts';

/** Contains a right-to-left override, which names must not contain. */
export const TURNED = '\u202Etxt.exe <b>bold</b>';

/** Works only at the start of a value. */
const SCRIPT_URL = 'javascript:alert(5)';

/** Texts that work anywhere in a value. */
const ANYWHERE: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  "'-alert(3)-'",
  '<svg/onload=alert(4)>',
  '{{constructor.constructor("alert(6)")()}}',
  '</title><style>*{display:none}</style>',
  '<iframe srcdoc="<script>parent.alert(7)</script>">',
];

/** Texts that would run, load or break something if a page treated them as anything but text. */
export const HOSTILE: readonly string[] = [...ANYWHERE, SCRIPT_URL, TURNED];

/** The same texts in fewer values, none longer than the 200 characters that a search takes. */
export const HOSTILE_TOGETHER: readonly string[] = [ANYWHERE.slice(0, 4).join(' '), ANYWHERE.slice(4).join(' '), SCRIPT_URL, TURNED];

/** A hostile text that names the field it was written to, should it ever run. Short enough for every field. */
export function hostile(field: string): string {
  return `"'><img src=x onerror=alert('${field}')>`;
}

export const MODEL = 'own/evil';
export const FAILING = 'own/failing';

/** Settings as an operator could write them, with hostile texts. */
export function hostileSettings(upstreamUrl: string): Readonly<Record<string, unknown>> {
  const model = (id: string, name: string) => ({
    id,
    name,
    provider: 'own',
    context_length: 10_000,
    max_output_tokens: 1000,
    price: { input: 1, output: 1 },
    routes: [{ provider: 'own', model: id === FAILING ? 'failing' : hostile('served model') }],
  });
  return {
    providers: { own: { base_url: upstreamUrl } },
    models: [model(MODEL, hostile('model name')), model(FAILING, 'Fails')],
    plans: [{ id: 'basic', name: hostile('plan name'), price_usd: 5, included_usd: 6 }],
    payments: { bank_transfer: hostile('bank transfer') },
    accounts: { sign_in: { oidc: { name: hostile('sso'), issuer: 'https://id.example.com', client_id: 'x', client_secret: 'y' } } },
  };
}

/** Starts a provider whose answers and errors contain scripts. */
export function startHostileUpstream(): { readonly url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { model, stream } = (await request.json()) as { model: string; stream?: boolean };
      if (model === 'failing')
        return Response.json({ error: { message: hostile('provider error'), code: hostile('code') } }, { status: 400 });
      const envelope = { id: hostile('id'), created: 1, model: hostile('answering model') };
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
      const content = HOSTILE.join(' ') + hostile('answer');
      if (stream !== true)
        return Response.json({
          ...envelope,
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: hostile('finish') }],
          usage,
        });
      const chunks = [
        { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: hostile('finish') }] },
        { choices: [], usage },
      ];
      const events = chunks.map((chunk) => `data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', ...chunk })}\n\n`);
      return new Response(`${events.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}

/** The planted objects that have their own URL. */
export interface Planted {
  readonly keyId: string;
  readonly requestId: string;
  readonly invitation: string;
}

/** Fills every text that a person, an operator or a client can write, through the API where one exists. */
export async function plant({ service, database }: Stage, { context, account }: Visit): Promise<Planted> {
  const send = async (method: string, path: string, data: unknown): Promise<Record<string, unknown>> => {
    const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: service.url } });
    expect([path, answer.ok() ? 'ok' : await answer.text()]).toEqual([path, 'ok']);
    return (await answer.json()) as Record<string, unknown>;
  };
  await send('PATCH', 'settings', { name: hostile('profile name'), contentDays: 1 });
  for (const name of HOSTILE.filter((text) => text !== TURNED)) await send('POST', 'keys', { name });
  const key = await send('POST', 'keys', { name: hostile('key name'), budgets: { day: '1' } });
  await send('PUT', 'usage/views', { page: 'usage', name: hostile('view'), search: `group=${encodeURIComponent(hostile('group'))}` });
  const range = { from: Date.now() - 86_400_000, to: Date.now() };
  await send('POST', 'requests/exports', { ...range, finish: hostile('export') });
  await send('PUT', 'alerts/webhook', { url: `https://hooks.example.com/${hostile('webhook')}` });
  await send('POST', 'billing/top-ups', { amountUsd: '20', provider: 'manual' });
  await database
    .updateTable('payments')
    .set({ status: 'failed', reason: hostile('payment') })
    .execute();
  await service.accounts.credit(account, usd('10'), { reason: hostile('credit reason'), actor: hostile('actor') });
  const alert = { accountId: account.id, kind: 'test', title: hostile('alert title'), text: hostile('alert text') } as const;
  await addDeliveries(database, alert, ['webhook']);
  await database
    .updateTable('alert_deliveries')
    .set({ status: 'failed', problem: hostile('problem') })
    .execute();
  await sql`INSERT INTO passkeys (id, person_id, name, public_key, credential_id, counter, device_type, backed_up)
    SELECT 'passkey_1', id, ${hostile('passkey')}, 'x', 'x', 0, 'x', 0 FROM people`.execute(database);
  await sql`INSERT INTO credentials (id, person_id, provider_id, provider_account_id, created_at, updated_at)
    SELECT 'cred_1', id, ${hostile('linked')}, 'x', created_at, updated_at FROM people`.execute(database);
  await sql`UPDATE sessions SET user_agent = ${hostile('user agent')}, address = ${hostile('address')}`.execute(database);
  await database
    .insertInto('banners')
    .values({ id: 1, text: hostile('banner'), tone: 'warning', created_at: 0 })
    .execute();
  const rules = { campaign: hostile('campaign'), usesMax: 1, perAccount: 1, minimumTopUp: usd('0') };
  const [promo] = (await new PromoCodes(database).create({ prefix: '', count: 1 }, { kind: 'credit', amount: usd('1') }, rules)) ?? [];
  await send('POST', 'billing/redeem', { code: promo?.code });
  return {
    keyId: String(key['id']),
    requestId: await ask(service.url, String(key['secret'])),
    invitation: await new Invitations(database).create({ kind: 'person', email: hostile('invited'), lifeMs: 3_600_000 }),
  };
}

async function ask(url: string, secret: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, user: hostile('user'), messages: [{ role: 'user', content: hostile('question') }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}
