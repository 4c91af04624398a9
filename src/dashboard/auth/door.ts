import type { ProviderId, SignInProvider } from '../../accounts/sign-in-settings.ts';
import { HOUR_MS } from '../../durations.ts';
import { inTime, LateError } from '../../in-time.ts';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';
import type { DashboardSettings } from '../messages.ts';
import type { Parts } from '../parts.ts';

/** How long a provider may take to tell its addresses; what the library asks of others has no limit of its own. */
const DISCOVERY_MS = 8000;
/** How long it may take to tell who somebody is; less than the dashboard waits for anything. */
const RETURN_MS = 20_000;
/** Addresses and keys of the operator's provider are asked for again after this. */
const FRESH_MS = HOUR_MS;
/** What a provider may say when it sends somebody back. Its own description of an error is not shown: anybody can write a link. */
const RETURNED = ['code', 'state', 'error', 'iss'] as const;
/** Nothing that the person did, so the operator reads of it. */
const OUR_TROUBLE = new Set([
  'invalid_code',
  'unable_to_get_user_info',
  'issuer_mismatch',
  'nonce_binding_missing',
  'invalid_client',
  'unauthorized_client',
  'unable_to_create_user',
  'unable_to_link_account',
  'internal_server_error',
  'validation_failed',
]);

interface DoorSetup {
  readonly settings: DashboardSettings;
  readonly library: Library;
  /** Opens the library with the operator's identity provider, which must be reached for it. */
  readonly openWith: (provider: SignInProvider) => Library;
  readonly fail: Parts['fail'];
}

/** Where somebody is sent, and what for. */
interface Departure {
  readonly provider: ProviderId;
  readonly purpose: 'sign-in' | 'link';
  /** Where they want to be afterwards. */
  readonly to?: string | undefined;
  readonly invitation?: string | undefined;
}

/** Sends people to providers that say who they are, and takes them in when they come back. */
export class ProviderDoor {
  readonly #setup: DoorSetup;
  #opened: { readonly library: Promise<Library>; readonly atMs: number } | undefined;

  constructor(setup: DoorSetup) {
    this.#setup = setup;
  }

  get isOpen(): boolean {
    return this.#setup.settings.signInProviders.length > 0;
  }

  /** Answers with the address at the provider. Where to come back to is ours to say, not the caller's. */
  async begin(headers: Headers, { provider, purpose, to, invitation }: Departure): Promise<Response> {
    const { publicUrl } = this.#setup.settings;
    const library = await this.#libraryOf(provider);
    const back = (path: string, query: Readonly<Record<string, string | undefined>>): string =>
      `${publicUrl}${path}?${queryOf(query)}`.replace(/\?$/u, '');
    const body =
      purpose === 'link'
        ? {
            callbackURL: back('/settings', { tab: 'security', linked: provider }),
            errorCallbackURL: back('/settings', { tab: 'security', with: provider }),
          }
        : {
            callbackURL: back('/welcome', { to }),
            newUserCallbackURL: back('/welcome', { new: 'true' }),
            errorCallbackURL: back('/sign-in', { with: provider, to }),
            additionalData: { invitation },
          };
    const path = purpose === 'link' ? '/link-social' : '/sign-in/social';
    const told = new Headers(headers);
    told.delete('content-length');
    return library.handler(
      new Request(`${publicUrl}/api/auth${path}`, {
        method: 'POST',
        headers: told,
        body: JSON.stringify({ ...body, provider, disableRedirect: true }),
      }),
    );
  }

  /** Takes back whom a provider sends. Whatever happens, the answer is a page with words. */
  async finish(headers: Headers, { provider, url }: { readonly provider: ProviderId; readonly url: URL }): Promise<Response> {
    const { publicUrl, signInProviders } = this.#setup.settings;
    const query = queryOf(Object.fromEntries(RETURNED.map((name) => [name, url.searchParams.get(name) ?? undefined])));
    const name = signInProviders.find(({ id }) => id === provider)?.name ?? provider;
    try {
      const library = await this.#libraryOf(provider);
      const request = new Request(`${publicUrl}/api/auth/callback/${provider}?${query}`, { headers });
      const answer = await inTime('it', library.handler(request), RETURN_MS);
      const end = new URL(answer.headers.get('location') ?? '', publicUrl);
      if (answer.status !== 302 || end.origin !== new URL(publicUrl).origin) throw new Trouble(`the answer has status ${answer.status}`);
      this.#report(name, end.searchParams.get('error'));
      end.searchParams.delete('error_description');
      answer.headers.set('location', end.toString());
      return answer;
    } catch (error) {
      // Refusals of our own are known, or were told where they happened.
      if (!(error instanceof ApiError)) this.#setup.fail(`${name} could not be asked who somebody is${wordsOf(error)}`, error);
      return this.refuse(provider, 'unreachable');
    }
  }

  /** Sends somebody to the sign-in page, which has words for the reason. */
  refuse(provider: ProviderId, error: string): Response {
    const location = `${this.#setup.settings.publicUrl}/sign-in?${queryOf({ with: provider, error })}`;
    return new Response(null, { status: 302, headers: { location } });
  }

  #report(name: string, error: string | null): void {
    if (error !== null && OUR_TROUBLE.has(error)) this.#setup.fail(`${name} let nobody in: ${error}`, new Trouble(error));
  }

  async #libraryOf(id: ProviderId): Promise<Library> {
    const provider = this.#setup.settings.signInProviders.find((each) => each.id === id);
    if (provider === undefined) throw new ApiError('not_found', 'This way of signing in is not set up here.');
    return provider.issuer === undefined ? this.#setup.library : this.#openOwn(provider);
  }

  /** Asks the operator's provider for its addresses when somebody wants to go there: if it is away, nobody else waits for it. */
  async #openOwn(provider: SignInProvider): Promise<Library> {
    const nowMs = Date.now();
    if (this.#opened === undefined || nowMs - this.#opened.atMs > FRESH_MS)
      this.#opened = { library: this.#discover(provider), atMs: nowMs };
    const opened = this.#opened;
    try {
      return await opened.library;
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined;
      this.#setup.fail(`${provider.name} could not be asked for its addresses${wordsOf(error)}`, error);
      throw new ApiError('unavailable', `${provider.name} does not answer at the moment. Try again, or sign in another way.`);
    }
  }

  async #discover(provider: SignInProvider): Promise<Library> {
    const library = this.#setup.openWith(provider);
    const { socialProviders } = await inTime('it', library.$context, DISCOVERY_MS);
    const found = socialProviders.find(({ id }) => id === provider.id);
    if (found === undefined) throw new Trouble(`there is no usable ${provider.issuer}/.well-known/openid-configuration`);
    if (found.issuer?.replace(/\/+$/u, '') !== provider.issuer)
      throw new Trouble(`it calls itself ${found.issuer}, not ${provider.issuer}. Set OIDC_ISSUER to its own name`);
    return library;
  }
}

/** What went wrong, in words of ours, which may be logged. Those of others are not. */
class Trouble extends Error {
  override readonly name = 'Trouble';
}

function wordsOf(error: unknown): string {
  return error instanceof Trouble || error instanceof LateError ? `: ${error.message}` : '';
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return new URLSearchParams(given).toString();
}
