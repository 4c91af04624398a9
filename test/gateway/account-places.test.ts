import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { asNanos } from '../../src/ledger/money.ts';
import type { Service } from '../../src/serve.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { until } from '../until.ts';
import { GONE, serveStore } from './serve-store.ts';

const PLACES = 3;

const [EMBEDDED] = STORES;
let store: OpenStore;
let service: Service;
let owner: Owner;
let secrets: string[];
let uploads: Socket[];

beforeAll(async () => {
  if (EMBEDDED === undefined) throw new Error('There is no store');
  store = await EMBEDDED.open();
  service = await serveStore(store, { ...GONE, limits: { concurrent: 2, account_concurrent: PLACES } });
});
beforeEach(async () => {
  owner = await Owner.at(store);
  await owner.accounts.credit(owner.account, asNanos(10_000_000_000n), { reason: 'test', actor: 'test' });
  secrets = [];
  for (const name of ['first', 'second']) secrets.push((await owner.keys.create(owner.account.id, { name })).secret);
  uploads = [];
});
afterAll(async () => {
  await service.drain();
  await store.close();
});

function send(key: number, fields: object = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets[key]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5, ...fields }),
    ...(signal !== undefined && { signal }),
  });
}

/** Sends a request that stays open, because the end of its body is missing. */
function beginUpload(key: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  uploads.push(socket);
  socket.on('error', reject);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gate\r\nauthorization: Bearer ${secrets[key]}\r\ncontent-type: application/json`;
  // The gate asks for the body once the request counts.
  socket.on('data', () => resolve());
  socket.write(`${head}\r\nexpect: 100-continue\r\ncontent-length: 1000\r\n\r\n`);
  return promise;
}

/** Takes all places but one, so that a request that has not freed its place shows. */
async function leaveOnePlace(): Promise<void> {
  for (let taken = 0; taken < PLACES - 1; taken += 1) await beginUpload(0);
}

/** Waits until a request is admitted again. */
const isAdmitted = (): Promise<true> => until(async () => ((await send(1)).status === 200 ? true : undefined));

test('all keys of an account share its places, and another account has its own', async () => {
  await leaveOnePlace();
  await beginUpload(1);
  const refused = await send(1);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({
    error: {
      message: `Too many concurrent requests: the API keys of this account may have ${PLACES} open at once, all together. Please try again in 1s.`,
      code: 'rate_limit_exceeded',
    },
  });
  const other = await Owner.at(store);
  await other.accounts.credit(other.account, asNanos(1_000_000_000n), { reason: 'test', actor: 'test' });
  secrets.push((await other.keys.create(other.account.id, { name: 'other' })).secret);
  expect((await send(2)).status).toBe(200);
  for (const upload of uploads) upload.destroy();
  await isAdmitted();
});

test.each<[string, object, number]>([
  ['is answered', {}, 200],
  ['streams to its end', { stream: true }, 200],
  ['has a wrong field', { temperature: 9 }, 400],
  ['names an unknown model', { model: 'no/model' }, 404],
  ['is not answered by its provider', { model: 'gone/model' }, 500],
])('a request that %s frees its place', async (_, fields, status) => {
  await leaveOnePlace();
  for (let round = 0; round < 2; round += 1) {
    const response = await send(1, fields);
    await response.text();
    expect(response.status).toBe(status);
  }
  expect((await send(1)).status).toBe(200);
  for (const upload of uploads) upload.destroy();
});

test('a client that leaves its stream frees its place once', async () => {
  await leaveOnePlace();
  const leaving = new AbortController();
  const stream = await send(1, { model: 'sandbox/story', stream: true, max_tokens: 500 }, leaving.signal);
  await stream.body?.getReader().read();
  expect((await send(1)).status).toBe(429);
  leaving.abort();
  await isAdmitted();
  await beginUpload(1);
  expect((await send(1)).status).toBe(429);
  for (const upload of uploads) upload.destroy();
});

test('a key whose own limit is higher may use it', async () => {
  await leaveOnePlace();
  const wide = await owner.keys.create(owner.account.id, { name: 'wide', concurrent: PLACES + 1 });
  secrets.push(wide.secret);
  await beginUpload(2);
  await beginUpload(2);
  expect((await send(2)).status).toBe(429);
  for (const upload of uploads) upload.destroy();
});
