import { ApiError, api, call } from './api.ts';
import { setFreshKey } from './fresh-key.ts';
import { queryClient } from './queries.ts';
import { signUp as t } from './strings/index.ts';
import { toast } from './ui/toast.tsx';

const CODE_NAME = 'tollgate.sign-up-code';

/** Saves a promo code until sign-up is complete, which may involve following a link in an email. */
export function saveCode(code: string): void {
  try {
    if (code.trim() === '') localStorage.removeItem(CODE_NAME);
    else localStorage.setItem(CODE_NAME, code.trim());
  } catch {
    // Browsers may forbid storage; the code can still be entered under Billing.
  }
}

/** Returns the saved promo code, for a second sign-up with another email address. */
export function savedCode(): string | undefined {
  try {
    return localStorage.getItem(CODE_NAME) ?? undefined;
  } catch {
    // As in `saveCode`.
    return undefined;
  }
}

/** Gives a new account its first key, for the examples on the next page, and redeems its promo code. */
export async function finishSignUp(): Promise<void> {
  queryClient.clear();
  try {
    setFreshKey(await call(api.account['first-key'].$post()));
  } catch (error) {
    // A user who already has a key, or whose account is not ready yet, continues without a new key.
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
    // As in `saveCode`.
    return null;
  }
}
