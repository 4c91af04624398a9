import { askAuth } from './people.ts';
import { providers as t } from './strings/index.ts';

/** Somebody who lets people in beside us. */
export interface Provider {
  readonly id: string;
  readonly name: string;
}

/** What is asked for on the way out. */
type Departure =
  | { readonly purpose: 'sign-in'; readonly to?: string | undefined; readonly invitation?: string | undefined }
  | { readonly purpose: 'link' };

/** Leaves for a provider, which sends the reader back. */
export async function goToProvider(provider: string, { purpose, ...more }: Departure): Promise<void> {
  const path = purpose === 'link' ? '/link-social' : '/sign-in/social';
  const { url } = await askAuth<{ readonly url: string }>('POST', path, { provider, ...more });
  location.assign(url);
  // Until the page is left its button stays busy, and no longer: whoever comes back by the browser's own button finds it as it was.
  await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
}

/** The words for a code in the address. Of an unknown one only that it happened is said: anybody can write a link. */
export function providerError(code: string, name: string = t.somebody): string {
  const errors: Readonly<Record<string, (name: string) => string>> = t.errors;
  return Object.hasOwn(errors, code) ? (errors[code]?.(name) ?? t.failed(name)) : t.failed(name);
}
