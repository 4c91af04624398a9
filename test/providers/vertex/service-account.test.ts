import { beforeAll, describe, expect, test } from 'bun:test';
import { parseServiceAccount, TokenSource, type ServiceAccount } from '../../../src/providers/vertex/service-account.ts';
import { failureOf } from '../../simulator/failure.ts';

const FILE = {
  type: 'service_account',
  client_email: 'gate@project.iam.gserviceaccount.com',
  private_key: 'key',
  private_key_id: 'id1',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const HOUR_MS = 3_600_000;
const grant = (count: number): Response => Response.json({ access_token: `ya29.${count}`, expires_in: 3600, token_type: 'Bearer' });

describe('a service account’s key file', () => {
  test('is read', () => {
    expect(parseServiceAccount(JSON.stringify(FILE))).toEqual({
      clientEmail: FILE.client_email,
      privateKey: 'key',
      privateKeyId: 'id1',
      tokenUri: FILE.token_uri,
    });
    expect(parseServiceAccount(JSON.stringify({ ...FILE, private_key_id: 7 })).privateKeyId).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['is not JSON', '{"private_key": "hush', 'not a JSON object'],
    ['is not an object', '"hush"', 'not a JSON object'],
    ['has no address', JSON.stringify({ ...FILE, token_uri: undefined }), 'token_uri'],
    ['has an unencrypted address', JSON.stringify({ ...FILE, token_uri: 'http://hush/token' }), 'must be https'],
    ['has an invalid address', JSON.stringify({ ...FILE, token_uri: 'hush' }), 'must be https'],
    ['has no key', JSON.stringify({ ...FILE, private_key: '' }), 'private_key'],
    ['has no email', JSON.stringify({ ...FILE, client_email: 7 }), 'client_email'],
  ])('that %s is refused without revealing its content', (_, text, message) => {
    expect(() => parseServiceAccount(text)).toThrow(message);
    expect(() => parseServiceAccount(text)).not.toThrow('hush');
  });
});

describe('an access token', () => {
  let account: ServiceAccount;
  let publicKey: CryptoKey;
  beforeAll(async () => {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' };
    const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const bytes = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
    const lines = bytes.match(/.{1,64}/gu)?.join('\n');
    publicKey = pair.publicKey;
    account = parseServiceAccount(
      JSON.stringify({ ...FILE, private_key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n` }),
    );
  });

  interface Sent {
    readonly url: string;
    readonly init: RequestInit;
  }

  /** A source with a clock that only moves manually, and a token server that answers as given. */
  function start(answer: (count: number) => Response, given: ServiceAccount = account) {
    const sent: Sent[] = [];
    const clock = { nowMs: 1_790_000_000_500 };
    const source = new TokenSource(given, {
      nowMs: () => clock.nowMs,
      fetch: (url, init) => {
        sent.push({ url, init });
        return Promise.resolve(answer(sent.length));
      },
    });
    return { source, sent, clock };
  }

  test('is obtained with a claim signed with the account’s key', async () => {
    const { source, sent } = start(grant);
    expect(await source.token()).toBe('ya29.1');
    const [{ url, init } = { url: '', init: {} }] = sent;
    expect(url).toBe(FILE.token_uri);
    expect(init).toMatchObject({ method: 'POST', redirect: 'error', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    const form = new URLSearchParams(init.body as string);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'id1' });
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: FILE.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: FILE.token_uri,
      iat: 1_790_000_000,
      exp: 1_790_003_600,
    });
    const bytes = new TextEncoder().encode(`${header}.${claims}`);
    expect(await crypto.subtle.verify('RSASSA-PKCS1-v1_5', publicKey, Buffer.from(signature, 'base64url'), bytes)).toBe(true);
  });

  test('is used until five minutes before it expires', async () => {
    const { source, clock } = start(grant);
    expect(await source.token()).toBe('ya29.1');
    clock.nowMs += HOUR_MS - 300_001;
    expect(await source.token()).toBe('ya29.1');
    clock.nowMs += 1;
    expect(await source.token()).toBe('ya29.2');
  });

  test('is not requested with a key that cannot sign', async () => {
    const { source, sent } = start(grant, { ...account, privateKey: 'hush' });
    const failure = await failureOf(source.token());
    expect(failure).toMatchObject({ name: 'ProviderFault', status: 401 });
    expect(String(failure)).not.toContain('hush');
    expect(sent).toEqual([]);
  });

  test('is fetched once for concurrent callers', async () => {
    const { source, sent } = start(grant, { ...account, privateKeyId: undefined });
    expect(await Promise.all([source.token(), source.token(), source.token()])).toEqual(['ya29.1', 'ya29.1', 'ya29.1']);
    expect(sent).toHaveLength(1);
  });

  test.each<[string, () => Response, number, string]>([
    [
      'refuses',
      () => Response.json({ error: 'invalid_grant', error_description: 'Invalid JWT' }, { status: 400 }),
      401,
      '(status 400): invalid_grant: Invalid JWT',
    ],
    ['fails', () => new Response('<html>', { status: 503 }), 502, '(status 503)'],
    ['returns no token', () => Response.json({ expires_in: 3600 }), 502, '(status 200)'],
    ['returns a token without an expiry', () => Response.json({ access_token: 'a' }), 502, '(status 200)'],
  ])('is a fault if the token server %s, and is requested again later', async (_, failure, status, message) => {
    const { source } = start((count) => (count === 1 ? failure() : grant(count)));
    expect(await failureOf(source.token())).toMatchObject({
      name: 'ProviderFault',
      status,
      message: `No access token for the service account ${message}`,
    });
    expect(await source.token()).toBe('ya29.2');
  });
});
