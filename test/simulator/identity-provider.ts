import { createHash, randomBytes } from 'node:crypto';

/** The person signed in at the identity provider. */
export interface Identity {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean | string;
  readonly name?: string;
}

/** What it does instead of answering correctly. */
type Fault =
  | 'denies'
  | 'refuses the code'
  | 'signs with another key'
  | 'forgets the nonce'
  | 'sends no id token'
  | 'tells about somebody else'
  | 'has another name'
  | 'is broken';

export const CLIENT = { clientId: 'the-gate', clientSecret: 'a secret between the two' } as const;

interface Code {
  readonly identity: Identity;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | undefined;
}

/** An OpenID Connect identity provider: discovery, authorization code with PKCE, signed tokens, user info. */
export class IdentityProvider {
  readonly issuer: string;
  /** The person it signs in without asking. */
  identity: Identity = { sub: 'nobody' };
  fault: Fault | undefined;
  /** True to reveal the email address only through user info, as some do. */
  isEmailOnlyInUserInfo = false;
  /** The parameters of the last authorization request. */
  asked = new URLSearchParams();
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #keys: CryptoKeyPair;
  readonly #others: CryptoKeyPair;
  readonly #codes = new Map<string, Code>();
  readonly #tokens = new Map<string, Identity>();

  private constructor(keys: CryptoKeyPair, others: CryptoKeyPair) {
    this.#keys = keys;
    this.#others = others;
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#answer(request) });
    this.issuer = `http://127.0.0.1:${this.#server.port}`;
  }

  static async start(): Promise<IdentityProvider> {
    return new IdentityProvider(await makeKeys(), await makeKeys());
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (this.fault === 'is broken') return new Response('<h1>Bad gateway</h1>', { status: 502 });
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return Response.json(this.#describe());
      case '/authorize':
        return this.#authorize(url.searchParams);
      case '/token':
        return this.#exchange(new URLSearchParams(await request.text()));
      case '/userinfo':
        return Response.json(this.#tokens.get((request.headers.get('authorization') ?? '').replace('Bearer ', '')) ?? {}, { status: 200 });
      case '/jwks':
        return Response.json({
          keys: [{ ...(await crypto.subtle.exportKey('jwk', this.#keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }],
        });
      default:
        return new Response('nothing here', { status: 404 });
    }
  }

  #describe(): unknown {
    return {
      issuer: this.fault === 'has another name' ? 'https://id.example.com' : this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      jwks_uri: `${this.issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    };
  }

  #authorize(asked: URLSearchParams): Response {
    this.asked = asked;
    const redirectUri = asked.get('redirect_uri') ?? '';
    const back = new URL(redirectUri);
    back.searchParams.set('state', asked.get('state') ?? '');
    const isRight =
      asked.get('client_id') === CLIENT.clientId && asked.get('response_type') === 'code' && asked.get('code_challenge_method') === 'S256';
    if (!isRight || this.fault === 'denies') {
      back.searchParams.set('error', isRight ? 'access_denied' : 'invalid_request');
      back.searchParams.set('error_description', '<script>alert(1)</script>');
    } else {
      const code = randomBytes(16).toString('hex');
      const { identity } = this;
      this.#codes.set(code, {
        identity,
        redirectUri,
        challenge: asked.get('code_challenge') ?? '',
        nonce: asked.get('nonce') ?? undefined,
      });
      back.searchParams.set('code', code);
    }
    return Response.redirect(back.toString(), 302);
  }

  async #exchange(form: URLSearchParams): Promise<Response> {
    const code = form.get('code') ?? '';
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const isRight =
      known !== undefined &&
      form.get('client_id') === CLIENT.clientId &&
      form.get('client_secret') === CLIENT.clientSecret &&
      form.get('redirect_uri') === known.redirectUri &&
      createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url') === known.challenge;
    if (!isRight || this.fault === 'refuses the code') return Response.json({ error: 'invalid_grant' }, { status: 400 });
    const token = randomBytes(16).toString('hex');
    const isAboutOther = this.fault === 'tells about somebody else';
    this.#tokens.set(token, { ...known.identity, ...(isAboutOther && { sub: 'somebody else' }) });
    const { email: _, ...rest } = known.identity;
    const claims = {
      ...(this.isEmailOnlyInUserInfo || isAboutOther ? rest : known.identity),
      ...(this.fault !== 'forgets the nonce' && { nonce: known.nonce }),
    };
    return Response.json({
      access_token: token,
      refresh_token: 'r',
      token_type: 'Bearer',
      expires_in: 3600,
      ...(this.fault !== 'sends no id token' && { id_token: await this.#sign(claims) }),
    });
  }

  async #sign(claims: object): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const head = encode({ alg: 'RS256', kid: 'one', typ: 'JWT' });
    const body = encode({ iss: this.issuer, aud: CLIENT.clientId, iat: now, exp: now + 300, ...claims });
    const { privateKey } = this.fault === 'signs with another key' ? this.#others : this.#keys;
    const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, new TextEncoder().encode(`${head}.${body}`));
    return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`;
  }
}

function makeKeys(): Promise<CryptoKeyPair> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
