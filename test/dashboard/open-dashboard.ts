import { expect } from 'bun:test';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { dashboardApi } from '../../src/dashboard/api.ts';
import { openAuth } from '../../src/dashboard/auth/auth.ts';
import { limitHashing } from '../../src/dashboard/auth/hashing.ts';
import { openMail } from '../../src/dashboard/mail.ts';
import type { DashboardSettings, GateQuestion } from '../../src/dashboard/messages.ts';
import type { Dependencies } from '../../src/dashboard/dependencies.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { HistoryKeeper } from '../../src/usage/history-keeper.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import type { PaymentsConfig } from '../../src/payments/payment-settings.ts';
import type { Store } from './stores.ts';

/** The dashboard's API on a real database, called without a socket. */
export interface TestDashboard {
  readonly dependencies: Dependencies;
  /** The notices that the server would have printed. */
  readonly notices: readonly string[];
  /** The internal errors that the server would have logged. */
  readonly failures: readonly unknown[];
  /** Opens a browser without cookies. */
  browser(address?: string): TestBrowser;
  /** Opens a browser and signs a new person up in it. */
  signedUp(email: string): Promise<TestBrowser>;
  /** Answers a request unchanged, without added headers. */
  answer(request: Request): Promise<Response>;
  close(): Promise<void>;
  /** Closes the dashboard and removes its store. Fails if the server had internal errors. */
  end(): Promise<void>;
}

/** Keeps cookies and sends its origin, like a browser. */
export interface TestBrowser {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Creates a person and signs in as them. */
  signUp(email: string, password?: string): Promise<Response>;
  signIn(email: string, password?: string): Promise<Response>;
}

export interface DashboardOptions {
  readonly settings?: Partial<DashboardSettings>;
  readonly ask?: (question: GateQuestion) => Promise<unknown>;
  /** Quick unless given. */
  readonly hashing?: typeof QUICK_HASHING;
}

export const NO_PAYMENTS: PaymentsConfig = {
  rules: { minimum: asNanos(5_000_000_000n), maximum: asNanos(1_000_000_000_000n), presets: [], graceMs: 0 },
  stripe: undefined,
  bankTransfer: undefined,
};
/** Takes microseconds instead of a tenth of a second of a core. Hundreds of tests sign people up. */
export const QUICK_HASHING = limitHashing({
  hash: async (password) => quickHash(password),
  verify: async ({ hash, password }) => hash === quickHash(password),
  isCurrent: () => true,
});
export const ORIGIN = 'http://gate.test';
export const PASSWORD = 'correct horse battery';

/** The settings of a dashboard, without its database. */
export const SETTINGS: Omit<DashboardSettings, 'databaseUrl' | 'databasePath'> = {
  publicUrl: ORIGIN,
  smtpUrl: undefined,
  mailFrom: 'Tollgate <tollgate@gate.test>',
  signUp: 'open',
  signUpCreditUsd: '0',
  signInProviders: [],
  secret: undefined,
  trustedProxies: [],
  payments: NO_PAYMENTS,
  shown: [],
};

/** Opens the dashboard on a store and creates the schema if needed. */
export async function openDashboard(store: Store, options: DashboardOptions = {}): Promise<TestDashboard> {
  const settings: DashboardSettings = {
    databaseUrl: store.databaseUrl,
    databasePath: store.databasePath,
    ...SETTINGS,
    ...options.settings,
  };
  const database = await connect(settings);
  await migrate(database.kysely, database.dialect);
  const notices: string[] = [];
  const failures: unknown[] = [];
  const reporting = {
    fail: (_event: string, error: unknown) => void failures.push(error),
    notice: (text: string) => void notices.push(text),
  };
  const mail = openMail(settings, reporting);
  const auth = await openAuth({ settings, database, mail, fail: reporting.fail, hashing: options.hashing ?? QUICK_HASHING });
  const money = await openMoneyIn({ database: database.kysely, payments: settings.payments, url: settings.publicUrl });
  const history = new HistoryKeeper(database, reporting.fail);
  const dependencies: Dependencies = { settings, database, auth, mail, money, history, ask: options.ask ?? (async () => []), ...reporting };
  const api = dashboardApi(dependencies);
  let nextHost = 0;
  const browser = (address = `192.0.2.${(nextHost += 1)}`): TestBrowser =>
    openBrowser(settings.publicUrl, async (request) => api.fetch(request, { address }));
  const close = async (): Promise<void> => {
    await history.stop();
    await mail.close();
    await auth.close();
    await database.kysely.destroy();
  };
  return {
    dependencies,
    notices,
    failures,
    browser,
    signedUp: async (email) => {
      const fresh = browser();
      expect((await fresh.signUp(email)).status).toBe(200);
      return fresh;
    },
    answer: async (request) => api.fetch(request, { address: '192.0.2.254' }),
    close,
    end: async () => {
      await close();
      await store.remove();
      expect(failures).toEqual([]);
    },
  };
}

function quickHash(password: string): string {
  return `quick:${Bun.hash(password)}`;
}

function openBrowser(origin: string, answer: (request: Request) => Promise<Response>): TestBrowser {
  const cookies = new Map<string, string>();
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await answer(new Request(origin + path, { ...init, headers }));
    for (const line of response.headers.getSetCookie()) keepCookie(cookies, line);
    return response;
  };
  const send: TestBrowser['send'] = (method, path, body, headers = {}) =>
    ask(path, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      headers: { origin, 'content-type': 'application/json', ...headers },
    });
  return {
    cookies,
    get: (path, headers = {}) => ask(path, { headers }),
    send,
    signUp: (email, password = PASSWORD) => send('POST', '/api/auth/sign-up/email', { name: email.split('@')[0], email, password }),
    signIn: (email, password = PASSWORD) => send('POST', '/api/auth/sign-in/email', { email, password }),
  };
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ');
  const at = pair.indexOf('=');
  const isExpired = attributes.some((attribute) => attribute.toLowerCase() === 'max-age=0');
  if (isExpired) cookies.delete(pair.slice(0, at));
  else cookies.set(pair.slice(0, at), pair.slice(at + 1));
}
