import { ApiError, api, call } from './api.ts';
import { keepFreshKey } from './fresh-key.ts';
import { queryClient } from './queries.ts';
import { signUp as t } from './strings/index.ts';
import { toast } from './ui/toast.tsx';

const CODE_NAME = 'tollgate.sign-up-code';

/** Remembers a promotion's code until whoever signs up is in: the link in the letter may come between. */
export function keepCode(code: string): void {
  try {
    if (code.trim() === '') localStorage.removeItem(CODE_NAME);
    else localStorage.setItem(CODE_NAME, code.trim());
  } catch {
    // Browsers may forbid storage; the code can still be entered under Billing.
  }
}

/** The code that is remembered, for whoever signs up again with another address. */
export function keptCode(): string | undefined {
  try {
    return localStorage.getItem(CODE_NAME) ?? undefined;
  } catch {
    // As above.
    return undefined;
  }
}

/** What a new account gets at once: its first key, for the examples of the next page, and what its code is worth. */
export async function finishSignUp(): Promise<void> {
  queryClient.clear();
  try {
    keepFreshKey(await call(api.account['first-key'].$post()));
  } catch (error) {
    // Whoever has a key already, or waits for an account, goes on without a new one.
    if (!(error instanceof ApiError)) throw error;
  }
  await redeemCode();
}

async function redeemCode(): Promise<void> {
  const code = takeCode();
  if (code === null) return;
  try {
    await call(api.billing.redeem.$post({ json: { code } }));
    toast('good', t.redeemed);
  } catch (error) {
    toast('bad', t.notRedeemed, error instanceof Error ? error.message : undefined);
  }
}

function takeCode(): string | null {
  try {
    const code = localStorage.getItem(CODE_NAME);
    localStorage.removeItem(CODE_NAME);
    return code;
  } catch {
    // As above.
    return null;
  }
}
