import { callAuth } from './auth.ts';
import { providers as t } from './strings/index.ts';

/** An identity provider that users can sign in with. */
export interface Provider {
  readonly id: string;
  readonly name: string;
}

/** Why the user is sent to a provider: to sign in, or to link an account. */
type Purpose =
  | { readonly purpose: 'sign-in'; readonly to?: string | undefined; readonly invitation?: string | undefined }
  | { readonly purpose: 'link' };

/** Sends the user to a provider, which redirects back. */
export async function goToProvider(provider: string, { purpose, ...more }: Purpose): Promise<void> {
  const path = purpose === 'link' ? '/link-social' : '/sign-in/social';
  const { url } = await callAuth<{ readonly url: string }>('POST', path, { provider, ...more });
  location.assign(url);
  // Keeps the button busy until the page is left. If the user returns with the browser's back button, it is usable again.
  await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
}

/** Returns the message for an error code in the URL. Unknown codes get a general message, since anybody can craft a link. */
export function providerError(code: string, name: string = t.unnamed): string {
  const errors: Readonly<Record<string, (name: string) => string>> = t.errors;
  return Object.hasOwn(errors, code) ? (errors[code]?.(name) ?? t.failed(name)) : t.failed(name);
}
