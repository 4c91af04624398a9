import { ORIGIN, type TestDashboard } from './open-dashboard.ts';

export const OTHER_PASSWORD = 'seven loud herons';

export function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

/** Returns the token of the last link that the server printed for an address. */
export function printedToken(dashboard: TestDashboard, email: string): string {
  const notice = dashboard.notices.findLast((text) => text.includes(email)) ?? '';
  return tokenOf(/https?:\S+/u.exec(notice)?.[0] ?? ORIGIN);
}

export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

export async function errorOf(response: Response): Promise<{ readonly code: string; readonly message: string; readonly field?: string }> {
  return ((await response.json()) as { error: { code: string; message: string; field?: string } }).error;
}

/** Returns the secret in the URI for an authenticator app. */
export function secretIn(uri: string): string {
  const digits = (new URL(uri).searchParams.get('secret') ?? '').replaceAll('=', '').split('');
  const bits = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const bytes = Array.from({ length: Math.floor(bits.length / 8) }, (_, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2));
  return Buffer.from(bytes).toString();
}
