import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { recordAudit } from '../../src/accounts/audit.ts';
import { signInVariables } from '../../src/accounts/sign-in-settings.ts';
import { z } from 'zod';
import { environmentSchema, loadConfig } from '../../src/config.ts';
import type { DashboardSettings } from '../../src/dashboard/messages.ts';
import { settingsSchema } from '../../src/settings.ts';
import { describeSettings } from '../../src/shown-settings.ts';
import { errorOf, jsonOf } from './answers.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { openDashboard, ORIGIN, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores, type Store } from './stores.ts';

const TEST_MS = 120_000;
const SECRETS = {
  DATABASE_URL: 'postgres://gate:pass-of-postgres@db.internal:5432/tollgate',
  REDIS_URL: 'redis://:pass-of-redis@cache.internal:6379',
  SMTP_URL: 'smtps://postman:pass-of-mail@mail.example.com',
  TOLLGATE_SECRET: 'secret-of-cookies-which-is-long-enough',
  TOLLGATE_METRICS_TOKEN: 'token-of-metrics',
  STRIPE_SECRET_KEY: 'sk_live_of_stripe',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_the_webhook',
  GITHUB_CLIENT_ID: 'client-of-github',
  GITHUB_CLIENT_SECRET: 'secret-of-github',
};
const HIDDEN = /pass-of|secret-of|token-of|sk_live|whsec|client-of|postman|db\.internal|cache\.internal/u;

/** Settings that have their own pages, and those that `accounts.sign_in` stands for. */
const NOT_SHOWN = ['providers', 'models', 'plans', ...Object.keys(signInVariables)];

test('every setting is shown, except those with their own pages', () => {
  const shown = describeSettings(loadConfig({}), 8080).map(({ name }) => name);
  const { properties = {} } = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' });
  const keys = Object.entries(properties).flatMap(([section, schema]) =>
    typeof schema === 'boolean' || schema.properties === undefined
      ? [section]
      : Object.keys(schema.properties).map((key) => `${section}.${key}`),
  );
  expect([...shown, ...NOT_SHOWN].toSorted()).toEqual([...Object.keys(environmentSchema.shape), ...keys].toSorted());
});

describeStores((makeStore) => {
  let store: Store;
  let mailbox: Mailbox;
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ada: TestBrowser;

  const open = (settings: Partial<DashboardSettings>): Promise<TestDashboard> => openDashboard(store, { settings });
  beforeAll(async () => {
    store = await makeStore();
    mailbox = await openMailbox();
    const shown = describeSettings(loadConfig({ ...SECRETS, HOST: '0.0.0.0', PUBLIC_URL: 'https://gate.example.com/' }), 8080);
    dashboard = await open({ shown });
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada@example.com');
  }, TEST_MS);
  afterAll(async () => {
    await dashboard.end();
    await mailbox.close();
  });

  const seen = async (): Promise<unknown> => (await jsonOf(await ada.get('/api/account')))['banner'];
  const read = async (browser = operator): Promise<Record<string, unknown>> => jsonOf(await browser.get('/api/admin/settings'));
  const audited = async (action: string): Promise<unknown[]> =>
    (await jsonOf(await operator.get(`/api/admin/audit?action=${action}`)))['entries'] as unknown[];

  test('settings are shown under their documented names, without any part of a secret', async () => {
    const answer = await read();
    const settings = answer['settings'] as { name: string; value: string | null }[];
    expect(JSON.stringify(answer)).not.toMatch(HIDDEN);
    expect(Object.fromEntries(settings.map(({ name, value }) => [name, value]))).toMatchObject({
      PUBLIC_URL: 'https://gate.example.com',
      HOST: '0.0.0.0',
      PORT: '8080',
      DATABASE_URL: 'set',
      REDIS_URL: 'set',
      SMTP_URL: 'mail.example.com',
      STRIPE_SECRET_KEY: 'set',
      STRIPE_WEBHOOK_SECRET: 'set',
      'accounts.sign_up': 'open',
      'accounts.sign_in': 'GitHub',
      'payments.presets_usd': '10, 25, 50, 100',
      'payments.bank_transfer': null,
      'limits.concurrent': '64',
      'retention.usage_days': null,
      'media.fetch': 'true',
      'timeouts.total_ms': '1800000',
      'payments.grace_days': '3',
    });
    const documented = readFileSync('docs/configuration.md', 'utf8');
    expect(settings.filter(({ name }) => !documented.includes(`\`${name}`))).toEqual([]);
  });

  test('the database is shown with its size, nodes and newest backup', async () => {
    const { kysely, dialect } = dashboard.dependencies.database;
    const backup = { actor: 'command line', action: 'backup', subject: '/backups/monday.db', changes: [] };
    await kysely.transaction().execute((transaction) => recordAudit(transaction, backup));
    const answer = await read();
    expect(answer['database']).toEqual({ kind: dialect, bytes: expect.any(Number) });
    expect((answer['database'] as { bytes: number }).bytes).toBeGreaterThan(100_000);
    if (dialect === 'sqlite') return expect(answer).toMatchObject({ nodes: null, backup: { file: '/backups/monday.db' } });
    const nowMs = Date.now();
    await kysely
      .insertInto('nodes')
      .values([
        { node_id: 'node_lives', epoch: 0, heartbeat: nowMs },
        { node_id: 'node_died', epoch: 0, heartbeat: nowMs - 60_000 },
      ])
      .execute();
    expect(await read()).toMatchObject({ nodes: [{ id: 'node_lives', seenAtMs: nowMs }], backup: null });
  });

  test('an invitation works once, is listed without its token, and can be withdrawn', async () => {
    const invite = (body: unknown): Promise<Response> => operator.send('POST', '/api/admin/settings/invitations', body);
    const { link } = (await jsonOf(await invite({ kind: 'person', email: 'Grace@example.com' }))) as { link: string };
    expect(link).toStartWith(`${ORIGIN}/sign-up?invitation=`);
    const token = link.split('=').at(-1) ?? '';
    const stateOf = async (): Promise<unknown> => (await jsonOf(await ada.get(`/api/invitations/${token}`)))['state'];
    expect(await stateOf()).toBe('open');
    expect(((await jsonOf(await invite({ kind: 'operator' })))['link'] as string).startsWith(`${ORIGIN}/setup?token=`)).toBe(true);
    expect((await invite({ kind: 'person', email: 'nobody' })).status).toBe(400);

    const answer = await read();
    const invitations = answer['invitations'] as { id: string; kind: string; email: string | null }[];
    expect(invitations.map(({ kind, email }) => [kind, email])).toEqual([
      ['operator', null],
      ['person', 'grace@example.com'],
    ]);
    expect(JSON.stringify(answer)).not.toContain(token);
    const id = invitations[1]?.id ?? '';
    expect((await operator.send('DELETE', `/api/admin/settings/invitations/${id}`)).status).toBe(200);
    expect(await stateOf()).toBe('expired');
    expect((await operator.send('DELETE', `/api/admin/settings/invitations/${id}`)).status).toBe(404);
    expect((await read())['invitations']).toHaveLength(1);
    expect(await audited('invitation.create')).toHaveLength(2);
    expect(await audited('invitation.withdraw')).toMatchObject([{ actor: 'operator@example.com', subject: id }]);
  });

  test('a banner is shown to everyone who is signed in until it is removed', async () => {
    const set = (body: unknown): Promise<Response> => operator.send('PUT', '/api/admin/settings/banner', body);
    expect(await seen()).toBeNull();
    for (const text of ['', 'x'.repeat(301), 'two\nlines']) expect((await set({ text, tone: 'info' })).status).toBe(400);
    expect((await set({ text: 'x', tone: 'loud' })).status).toBe(400);
    expect((await set({ text: ' Maintenance at ten <b>sharp</b>. ', tone: 'warning' })).status).toBe(200);
    const banner = { text: 'Maintenance at ten <b>sharp</b>.', tone: 'warning' };
    expect(await seen()).toEqual(banner);
    // The banner is cached, so a change by another node is seen a moment later.
    await dashboard.dependencies.database.kysely.deleteFrom('banners').execute();
    expect(await seen()).toEqual(banner);
    await set(banner);
    await Promise.all([set({ ...banner, text: 'One' }), set({ ...banner, text: 'Two' })]);
    expect((await operator.send('DELETE', '/api/admin/settings/banner')).status).toBe(200);
    expect(await seen()).toBeNull();
    expect((await operator.send('DELETE', '/api/admin/settings/banner')).status).toBe(200);
    expect(await audited('banner.clear')).toHaveLength(1);
    expect((await audited('banner.set')).at(-1)).toMatchObject({
      actor: 'operator@example.com',
      subject: 'banner',
      changes: [
        { field: 'text', before: null, after: banner.text },
        { field: 'tone', before: null, after: 'warning' },
      ],
    });
  });

  test('a test email goes to the operator and reports the mail server’s answer, at most five times in ten minutes', async () => {
    expect(await errorOf(await send(operator))).toMatchObject({ code: 'conflict', message: expect.stringContaining('SMTP_URL') as string });
    const posting = await open({ smtpUrl: mailbox.url });
    const browser = posting.browser();
    for (const [name, value] of operator.cookies) browser.cookies.set(name, value);
    expect(await jsonOf(await send(browser))).toEqual({ isSent: true, answer: expect.stringMatching(/^250/u) as string });
    expect(await mailbox.next('operator@example.com')).toContain('This test email arrived: your Tollgate can send emails.');
    for (let tries = 1; tries < 5; tries += 1) expect((await send(browser)).status).toBe(200);
    const refused = await send(browser);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await audited('mail.test')).toHaveLength(5);
    await posting.close();
  });

  test('a test email that cannot be sent reports why', async () => {
    const { database } = dashboard.dependencies;
    await database.kysely.deleteFrom('auth_rate_limits').execute();
    const deaf = await open({ smtpUrl: 'smtp://postman:pass-of-mail@127.0.0.1:1' });
    const browser = deaf.browser();
    for (const [name, value] of operator.cookies) browser.cookies.set(name, value);
    const answer = await jsonOf(await send(browser));
    expect(answer).toMatchObject({ isSent: false, answer: expect.stringContaining('ECONNREFUSED') as string });
    expect(JSON.stringify(answer)).not.toMatch(HIDDEN);
    await deaf.close();
  });
});

function send(browser: TestBrowser): Promise<Response> {
  return browser.send('POST', '/api/admin/settings/test-letter');
}
