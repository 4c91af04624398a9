import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { ApiError } from '../api-error.ts';

/** Each takes 32 MB and a core. The threads that do it also look up names and flush charges, so most of them must stay free. */
const AT_ONCE_MAX = 2;
/** More than are done before the first of them would time out. */
const WAITING_MAX = 200;

/** Hashes and verifies passwords a few at a time, so that a flood of sign-ins does not stop the gate. */
export const passwordHashing = limitHashing({ hash: hashPassword, verify: verifyPassword });

/** How passwords are hashed and verified. */
export interface Hashing {
  readonly hash: (password: string) => Promise<string>;
  readonly verify: (claim: { readonly hash: string; readonly password: string }) => Promise<boolean>;
}

/** Runs the work a few at a time, in the order of arrival. Refuses it if too much is waiting. */
export function limitHashing({ hash, verify }: Hashing): Hashing {
  let running = 0;
  const waiting: (() => void)[] = [];
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (waiting.length >= WAITING_MAX) throw new ApiError('unavailable', 'Too many people are signing in. Try again in a moment.');
    if (running < AT_ONCE_MAX) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  return { hash: (password) => inTurn(() => hash(password)), verify: (claim) => inTurn(() => verify(claim)) };
}
