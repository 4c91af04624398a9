import { api, call } from './api.ts';

/** A new key is requested this long before the old one expires, so that a call in progress does not lose its key. */
const MARGIN_MS = 5 * 60 * 1000;

let current: { readonly secret: string; readonly expiresAtMs: number } | undefined;

/** Returns a secret for calling models from this page. It is short-lived and kept in memory only. */
export async function playgroundSecret(): Promise<string> {
  if (current === undefined || current.expiresAtMs - MARGIN_MS < Date.now()) current = await call(api.playground.key.$post());
  return current.secret;
}
