import { adminAccounts } from './strings/index.ts';

/** How operators see an account: by its address, which an account closed by its owner has no longer. */
export function accountLabel(email: string): string {
  return email.startsWith('closed:') ? adminAccounts.closed : email;
}
