import { ApiError, api, call } from './api.ts';
import { isNumberFormat, numberFormatChoice } from './number-format.ts';
import { accountQuery, queryClient } from './queries.ts';
import { safeReturn } from './safe-return.ts';
import { zoneChoice } from './zone.ts';

const TIMEOUT_MS = 10_000;

const FRESH_MS = 60_000;

/** Tells whether somebody is signed in, for public pages. */
export function hasSession(): Promise<boolean> {
  if (queryClient.getQueryData(accountQuery.queryKey) !== undefined) return Promise.resolve(true);
  return queryClient.fetchQuery({ queryKey: ['session'], queryFn: askForSession, staleTime: FRESH_MS });
}

async function askForSession(): Promise<boolean> {
  try {
    const response = await fetch('/api/auth/get-session', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return response.ok && (await response.json()) !== null;
  } catch {
    // A public page is shown even if the authentication endpoint does not respond.
    return false;
  }
}

/** Loads the account that every page of the app shows. Returns false if nobody is signed in. */
export async function loadAccount(): Promise<boolean> {
  try {
    await queryClient.ensureQueryData(accountQuery);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** Tells whether the signed-in user is an operator. */
export function isOperator(): boolean {
  return queryClient.getQueryData(accountQuery.queryKey)?.isOperator === true;
}

/**
 * Enters the dashboard after signing in. Loads a new page, so that no data of a previous user stays in memory. The time zone and number
 * format that the user chose in another browser apply here too.
 */
export async function enterDashboard(to: string | undefined): Promise<void> {
  try {
    const { zone, numberFormat } = await call(api.settings.$get());
    if (zone !== null) zoneChoice.set(zone);
    if (numberFormat !== null && isNumberFormat(numberFormat)) numberFormatChoice.set(numberFormat);
  } catch {
    // Unreadable settings are no reason to stay out; the next page reports the problem.
  }
  location.assign(safeReturn(to, location.origin));
}
