import type { ProviderId, SignInProvider } from '../../accounts/sign-in-settings.ts';
import { HOUR_MS } from '../../durations.ts';
import { withTimeout, LateError } from '../../with-timeout.ts';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';
import type { DashboardSettings, Reporting } from '../messages.ts';

/** Time limit for a provider's discovery document. The library's own requests have no timeout. */
const DISCOVERY_MS = 8000;
/** Time limit for a provider to identify a person. Shorter than the dashboard's own request timeout. */
const RETURN_MS = 20_000;
/** The addresses and keys of the operator's provider are fetched again after this. */
const FRESH_MS = HOUR_MS;
/** The query parameters accepted on return. `error_description` is not shown, because anyone can craft such a link. */
const RETURN_PARAMETERS = ['code', 'state', 'error', 'iss'] as const;
/** Errors that the person did not cause. They are logged for the operator. */
const LOGGED_ERRORS = new Set([
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

interface ProviderSetup {
  readonly settings: DashboardSettings;
  readonly library: Library;
  /** Opens the library with the operator's identity provider, which must be reachable. */
  readonly openWith: (provider: SignInProvider) => Library;
  readonly fail: Reporting['fail'];
}

/** Which provider a person is sent to, and why. */
interface Departure {
  readonly provider: ProviderId;
  readonly purpose: 'sign-in' | 'link';
  /** The page to open afterwards. */
  readonly to?: string | undefined;
  readonly invitation?: string | undefined;
}

/** Sends people to identity providers and handles their return. */
export class ProviderSignIn {
  readonly #setup: ProviderSetup;
  #opened: { readonly library: Promise<Library>; readonly atMs: number } | undefined;

  constructor(setup: ProviderSetup) {
    this.#setup = setup;
  }

  get isConfigured(): boolean {
    return this.#setup.settings.signInProviders.length > 0;
  }

  /** Responds with the provider's URL. The return addresses are set here, never by the client. */
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
    const passedOn = new Headers(headers);
    passedOn.delete('content-length');
    return library.handler(
      new Request(`${publicUrl}/api/auth${path}`, {
        method: 'POST',
        headers: passedOn,
        body: JSON.stringify({ ...body, provider, disableRedirect: true }),
      }),
    );
  }

  /** Handles a return from a provider. Every outcome is a redirect to a page that explains it. */
  async finish(headers: Headers, { provider, url }: { readonly provider: ProviderId; readonly url: URL }): Promise<Response> {
    const { publicUrl, signInProviders } = this.#setup.settings;
    const query = queryOf(Object.fromEntries(RETURN_PARAMETERS.map((name) => [name, url.searchParams.get(name) ?? undefined])));
    const name = signInProviders.find(({ id }) => id === provider)?.name ?? provider;
    try {
      const library = await this.#libraryOf(provider);
      const request = new Request(`${publicUrl}/api/auth/callback/${provider}?${query}`, { headers });
      const answer = await withTimeout('it', library.handler(request), RETURN_MS);
      const end = new URL(answer.headers.get('location') ?? '', publicUrl);
      if (answer.status !== 302 || end.origin !== new URL(publicUrl).origin)
        throw new ProviderProblem(`the answer has status ${answer.status}`);
      this.#report(name, end.searchParams.get('error'));
      end.searchParams.delete('error_description');
      answer.headers.set('location', end.toString());
      return answer;
    } catch (error) {
      // Our own refusals are expected, or were logged where they occurred.
      if (!(error instanceof ApiError)) this.#setup.fail(`${name} could not be asked who is signing in${reasonOf(error)}`, error);
      return this.refuse(provider, 'unreachable');
    }
  }

  /** Redirects to the sign-in page, which has a message for the reason. */
  refuse(provider: ProviderId, error: string): Response {
    const location = `${this.#setup.settings.publicUrl}/sign-in?${queryOf({ with: provider, error })}`;
    return new Response(null, { status: 302, headers: { location } });
  }

  #report(name: string, error: string | null): void {
    if (error !== null && LOGGED_ERRORS.has(error))
      this.#setup.fail(`signing in with ${name} failed: ${error}`, new ProviderProblem(error));
  }

  async #libraryOf(id: ProviderId): Promise<Library> {
    const provider = this.#setup.settings.signInProviders.find((each) => each.id === id);
    if (provider === undefined) throw new ApiError('not_found', 'This way of signing in is not set up here.');
    return provider.issuer === undefined ? this.#setup.library : this.#openOwn(provider);
  }

  /** Opens the operator's provider on demand, so that other sign-ins do not wait if it is unreachable. */
  async #openOwn(provider: SignInProvider): Promise<Library> {
    const nowMs = Date.now();
    if (this.#opened === undefined || nowMs - this.#opened.atMs > FRESH_MS)
      this.#opened = { library: this.#discover(provider), atMs: nowMs };
    const opened = this.#opened;
    try {
      return await opened.library;
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined;
      this.#setup.fail(`${provider.name} could not be asked for its endpoints${reasonOf(error)}`, error);
      throw new ApiError('unavailable', `${provider.name} does not answer at the moment. Try again, or sign in another way.`);
    }
  }

  async #discover(provider: SignInProvider): Promise<Library> {
    const library = this.#setup.openWith(provider);
    const { socialProviders } = await withTimeout('it', library.$context, DISCOVERY_MS);
    const found = socialProviders.find(({ id }) => id === provider.id);
    if (found === undefined) throw new ProviderProblem(`there is no usable ${provider.issuer}/.well-known/openid-configuration`);
    if (found.issuer?.replace(/\/+$/u, '') !== provider.issuer)
      throw new ProviderProblem(`it calls itself ${found.issuer}, not ${provider.issuer}. Set OIDC_ISSUER to its own name`);
    return library;
  }
}

/** A problem described in our own words, which may be logged. Messages from providers are not logged. */
class ProviderProblem extends Error {
  override readonly name = 'ProviderProblem';
}

function reasonOf(error: unknown): string {
  return error instanceof ProviderProblem || error instanceof LateError ? `: ${error.message}` : '';
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return new URLSearchParams(given).toString();
}
