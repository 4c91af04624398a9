import { api, call } from './api.ts';

/** Asked for anew this long before the end, so that a call under way does not lose its key. */
const MARGIN_MS = 5 * 60 * 1000;

let kept: { readonly secret: string; readonly expiresAtMs: number } | undefined;

/** The secret with which this page may call models: short-lived, and in memory only. */
export async function playgroundSecret(): Promise<string> {
  if (kept === undefined || kept.expiresAtMs - MARGIN_MS < Date.now()) kept = await call(api.playground.key.$post());
  return kept.secret;
}
