import { modelSchema } from '../../src/catalog/catalog.ts';
import { limitsOf } from '../../src/gateway/admit.ts';
import { postWebhook } from '../../src/http/post-webhook.ts';
import { MemoryLimits } from '../../src/limits/memory.ts';
import { dashboardApi } from '../../src/dashboard/api.ts';
import { openAuth } from '../../src/dashboard/auth/auth.ts';
import { openMail } from '../../src/dashboard/mail.ts';
import type { DashboardSettings, GateQuestion } from '../../src/dashboard/messages.ts';
import type { Dependencies, Person } from '../../src/dashboard/dependencies.ts';
import { HistoryKeeper } from '../../src/usage/history-keeper.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { Owner } from '../accounts/owner.ts';
import type { OpenStore } from '../accounts/stores.ts';
import { reachLoopback } from '../http/media-server.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { NO_PAYMENTS, QUICK_HASHING } from './open-dashboard.ts';

const PUBLIC_URL = 'https://gate.example.com';
const DEFAULTS = { requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrent: 64 };
const MODELS = ['a/one', 'a/two', 'b/three'].map((id) =>
  modelSchema.parse({
    id,
    provider: id.slice(0, 1),
    context_length: 8000,
    max_output_tokens: 1000,
    price: { input: 1, output: 2 },
    routes: [{ provider: id.slice(0, 1), model: id.slice(2) }],
  }),
);

/** A response of the API. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly text: string;
}

/** The dashboard's API on a real database. People are signed in by a cookie that is simply their account id. */
export class FrontDesk {
  readonly store: OpenStore;
  readonly limits = new MemoryLimits();
  readonly failures: unknown[] = [];
  readonly #api: ReturnType<typeof dashboardApi>;

  private constructor(store: OpenStore, dependencies: Omit<Dependencies, 'ask' | 'fail' | 'notice' | 'history'>) {
    this.store = store;
    const fail = (_: string, error: unknown): void => void this.failures.push(error);
    this.#api = dashboardApi({
      ...dependencies,
      history: new HistoryKeeper(store, fail),
      ask: async (question) => this.#answer(question),
      fail,
      notice: () => undefined,
    });
  }

  /** Opens the API; `more` replaces some of its dependencies. */
  static async open(store: OpenStore, more: Partial<Dependencies> = {}): Promise<FrontDesk> {
    const settings: DashboardSettings = {
      databaseUrl: store.databaseUrl,
      databasePath: store.databasePath,
      publicUrl: PUBLIC_URL,
      smtpUrl: undefined,
      mailFrom: 'Tollgate <gate@example.com>',
      signUp: 'open',
      signUpCreditUsd: '0',
      signInProviders: [],
      secret: 'a secret of the tests, which is long enough',
      trustedProxies: [],
      payments: NO_PAYMENTS,
      shown: [],
    };
    const mail = openMail(settings, { fail: () => undefined, notice: () => undefined });
    const auth = await openAuth({ settings, database: store, mail, fail: () => undefined, hashing: QUICK_HASHING });
    const money = await openMoneyIn({ database: store.kysely, payments: NO_PAYMENTS, url: PUBLIC_URL });
    return new FrontDesk(store, { settings, database: store, mail, money, auth: { ...auth, findPerson: readPerson }, ...more });
  }

  /** Creates an account and signs its owner in. */
  async person(): Promise<Visitor> {
    const owner = await Owner.at(this.store);
    return new Visitor(owner, (method, path, json) => this.#ask({ method, path, json, accountId: owner.account.id }));
  }

  /** Sends a request without a session. */
  stranger(method: string, path: string): Promise<Answer> {
    return this.#ask({ method, path });
  }

  async #ask({ method, path, json, accountId }: { method: string; path: string; json?: unknown; accountId?: string }): Promise<Answer> {
    const headers = new Headers({ origin: PUBLIC_URL, 'content-type': 'application/json' });
    if (accountId !== undefined) headers.set('cookie', accountId);
    const body = method === 'GET' ? null : JSON.stringify(json ?? {});
    const request = new Request(`${PUBLIC_URL}/api${path}`, { method, headers, body });
    const response = await this.#api.fetch(request, { address: '203.0.113.9' });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, text, body: isJson ? (JSON.parse(text) as JsonObject) : {} };
  }

  #answer(question: GateQuestion): unknown {
    switch (question.type) {
      case 'limits':
        return this.limits.stateOf(question.keyId, limitsOf(question.own, DEFAULTS));
      case 'webhook':
        return postWebhook(question.posting, reachLoopback());
      case 'catalogue':
        return MODELS;
      case 'price-list':
      case 'providers':
      case 'trial':
        return [];
      case 'ledger':
        return { waiting: 0, verified: undefined };
    }
  }
}

/** A signed-in person who calls the API. */
export class Visitor {
  readonly owner: Owner;
  readonly #ask: (method: string, path: string, json?: unknown) => Promise<Answer>;

  constructor(owner: Owner, ask: (method: string, path: string, json?: unknown) => Promise<Answer>) {
    this.owner = owner;
    this.#ask = ask;
  }

  get(path: string): Promise<Answer> {
    return this.#ask('GET', path);
  }

  post(path: string, json?: unknown): Promise<Answer> {
    return this.#ask('POST', path, json);
  }

  put(path: string, json: unknown): Promise<Answer> {
    return this.#ask('PUT', path, json);
  }

  patch(path: string, json: unknown): Promise<Answer> {
    return this.#ask('PATCH', path, json);
  }

  delete(path: string, json: unknown): Promise<Answer> {
    return this.#ask('DELETE', path, json);
  }
}

async function readPerson(headers: Headers): Promise<Person | undefined> {
  const accountId = headers.get('cookie');
  if (accountId === null) return undefined;
  return {
    userId: `user of ${accountId}`,
    accountId,
    sessionId: 's',
    name: 'Me',
    email: 'me@example.com',
    isEmailVerified: true,
    hasTwoFactor: false,
    passedSecondFactor: false,
    signedInAtMs: Date.now(),
    isOperator: false,
  };
}
