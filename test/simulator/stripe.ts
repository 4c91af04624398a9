import { Stripe } from 'stripe';
import { StripeBooks, type StripeObject } from './stripe-books.ts';

/** A small Stripe: the parts our driver uses, with state, and events signed as Stripe signs them. */
export interface StripeSimulator {
  readonly url: string;
  readonly secret: string;
  readonly books: StripeBooks;
  /** The requests received, such as `POST /v1/checkout/sessions`. */
  readonly requests: readonly string[];
  /** The next requests are executed, but their answers are lost. */
  loseAnswers(count: number): void;
  /** The next requests are answered with this status and not executed. */
  failWith(status: number, count: number): void;
  /** Returns an event as Stripe sends it: the body and its signature. */
  sign(event: StripeObject, secret?: string, atMs?: number): Promise<{ body: string; headers: Record<string, string> }>;
  /** Sends an event to the webhook and returns the status of its response. */
  deliver(event: StripeObject, to: Webhook): Promise<number>;
  stop(): Promise<void>;
}

/** An address, or the function behind it. */
export type Webhook = string | ((request: Request) => Promise<Response>);

const WEBHOOK_SECRET = 'whsec_simulated_secret_of_the_tests';

/** Starts the simulator on the loopback interface. */
export async function startStripeSimulator(): Promise<StripeSimulator> {
  const books = new StripeBooks();
  const requests: string[] = [];
  const answers = new Map<string, { body: string; answer: { status: number; value: unknown } }>();
  let lost = 0;
  let failing = { status: 0, count: 0 };

  const handle = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const body = await request.text();
    requests.push(`${request.method} ${url.pathname}`);
    if (failing.count > 0) {
      failing = { ...failing, count: failing.count - 1 };
      return Response.json({ error: { type: 'api_error', message: 'simulated' } }, { status: failing.status });
    }
    const key = request.headers.get('idempotency-key');
    const known = key === null || request.method !== 'POST' ? undefined : answers.get(key);
    if (known !== undefined && known.body !== body)
      return Response.json({ error: { type: 'idempotency_error', message: 'another body for the same key' } }, { status: 400 });
    const answer =
      known?.answer ?? books.answer(request.method, url.pathname, parseForm(request.method === 'GET' ? url.search.slice(1) : body));
    if (key !== null && request.method === 'POST') answers.set(key, { body, answer });
    if (lost > 0) {
      lost -= 1;
      return new Response('{"id": "half of an ans', { headers: { 'content-type': 'application/json' } });
    }
    return Response.json(answer.value, { status: answer.status });
  };
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: handle });

  const sign: StripeSimulator['sign'] = async (event, secret = WEBHOOK_SECRET, atMs = Date.now()) => {
    const body = JSON.stringify(event);
    const stripe = new Stripe('sk_test_simulated');
    const header = await stripe.webhooks.generateTestHeaderStringAsync({ payload: body, secret, timestamp: Math.floor(atMs / 1000) });
    return { body, headers: { 'stripe-signature': header, 'content-type': 'application/json' } };
  };
  return {
    url: `http://127.0.0.1:${server.port}`,
    secret: WEBHOOK_SECRET,
    books,
    requests,
    loseAnswers: (count) => {
      lost = count;
    },
    failWith: (status, count) => {
      failing = { status, count };
    },
    sign,
    deliver: async (event, to) => {
      const { body, headers } = await sign(event);
      const address = typeof to === 'string' ? to : 'http://127.0.0.1/webhooks/stripe';
      const request = new Request(address, { method: 'POST', body, headers });
      return (typeof to === 'string' ? await fetch(request) : await to(request)).status;
    },
    stop: () => server.stop(true),
  };
}

/** Stripe's bodies are forms whose names have brackets: `a[b][0]=c`. */
function parseForm(text: string): StripeObject {
  const result: StripeObject = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/[^[\]]+/gu)].map(([part]) => part);
    let place: StripeObject = result;
    for (const part of path.slice(0, -1)) {
      place[part] ??= {};
      place = place[part] as StripeObject;
    }
    place[path.at(-1) ?? name] = value;
  }
  return result;
}
