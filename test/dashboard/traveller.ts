import { expect } from 'bun:test';
import type { SignInProvider } from '../../src/accounts/sign-in-settings.ts';
import { CLIENT, type IdentityProvider, type Identity } from '../simulator/identity-provider.ts';
import { ORIGIN, type TestBrowser } from './open-dashboard.ts';

/** The gate's settings for the simulated provider. */
export function ownProvider({ issuer }: IdentityProvider): SignInProvider {
  return { id: 'oidc', name: 'Acme', issuer, ...CLIENT };
}

export function identityOf(name: string, more: Partial<Identity> = {}): Identity {
  return { sub: name, email: `${name}@example.com`, email_verified: true, name, ...more };
}

/** Goes to a provider and back like a browser. */
export class Traveller {
  readonly #provider: IdentityProvider;

  constructor(provider: IdentityProvider) {
    this.#provider = provider;
  }

  async go(browser: TestBrowser, who: Identity, { path = '/sign-in/social', body = {} } = {}): Promise<URL> {
    return endOf(await browser.get(await this.leave(browser, who, { path, body })));
  }

  /** Goes to the provider. Returns the path to which the provider redirects. */
  async leave(browser: TestBrowser, who: Identity, { path = '/sign-in/social', body = {} } = {}): Promise<string> {
    this.#provider.identity = who;
    const begun = await browser.send('POST', `/api/auth${path}`, { provider: 'oidc', ...body });
    if (!begun.ok) throw new Error(await begun.text());
    const { url } = (await begun.json()) as { url: string };
    const sent = await fetch(url, { redirect: 'manual' });
    const back = new URL(sent.headers.get('location') ?? '');
    expect(back.origin + back.pathname).toBe(`${ORIGIN}/api/auth/callback/oidc`);
    return back.pathname + back.search;
  }
}

export function endOf(answer: Response): URL {
  expect(answer.status).toBe(302);
  const end = new URL(answer.headers.get('location') ?? '', ORIGIN);
  expect(end.origin).toBe(ORIGIN);
  return end;
}

export function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}
