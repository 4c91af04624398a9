import { ApiError, api, call } from './api.ts';
import { isNumberFormat, numberFormatChoice } from './number-format.ts';
import { accountQuery, queryClient } from './queries.ts';
import { safeReturn } from './safe-return.ts';
import { zoneChoice } from './zone.ts';

const TIMEOUT_MS = 10_000;

const FRESH_MS = 60_000;

/** True when somebody is signed in, for pages that anybody may see. */
export function hasSession(): Promise<boolean> {
  if (queryClient.getQueryData(accountQuery.queryKey) !== undefined) return Promise.resolve(true);
  return queryClient.fetchQuery({ queryKey: ['session'], queryFn: askForSession, staleTime: FRESH_MS });
}

async function askForSession(): Promise<boolean> {
  try {
    const answer = await fetch('/api/auth/get-session', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return answer.ok && (await answer.json()) !== null;
  } catch {
    // A public page is shown even when the server's other half does not answer.
    return false;
  }
}

/** Loads the account that every page of the app shows; false when nobody is signed in. */
export async function loadAccount(): Promise<boolean> {
  try {
    await queryClient.ensureQueryData(accountQuery);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** Whether whoever is signed in runs the service. */
export function isOperator(): boolean {
  return queryClient.getQueryData(accountQuery.queryKey)?.isOperator === true;
}

/** Goes in after signing in, with a fresh page, so that nothing of whoever was here before stays in memory. What the person chose elsewhere counts here too. */
export async function goIn(to: string | undefined): Promise<void> {
  try {
    const { zone, numberFormat } = await call(api.settings.$get());
    if (zone !== null) zoneChoice.set(zone);
    if (numberFormat !== null && isNumberFormat(numberFormat)) numberFormatChoice.set(numberFormat);
  } catch {
    // A choice that cannot be read is no reason to stay outside; the next page tells what is wrong.
  }
  location.assign(safeReturn(to, location.origin));
}
