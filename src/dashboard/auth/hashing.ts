import { verifyPassword } from 'better-auth/crypto';
import { ApiError } from '../api-error.ts';

/** Each takes 32 MB and a core. The threads that do it also look up names and flush charges, so most of them must stay free. */
const AT_ONCE_MAX = 2;
/** More than are done before the first of them would time out. */
const WAITING_MAX = 200;

/** A new hash takes as long as an old one, so that the time of a refusal does not tell who has an old one. */
const ARGON2 = { algorithm: 'argon2id', memoryCost: 32 * 1024, timeCost: 2 } as const;
/** How a hash made with these parameters begins. */
const CURRENT = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=1$`;

/** Hashes and verifies passwords a few at a time, so that a flood of sign-ins does not stop the gate. */
export const passwordHashing = limitHashing({
  hash: (password) => Bun.password.hash(readable(password), ARGON2),
  verify: ({ hash, password }) =>
    hash.startsWith('$') ? Bun.password.verify(readable(password), hash) : verifyPassword({ hash, password }),
  isCurrent: (hash) => hash.startsWith(CURRENT),
});

/** How passwords are hashed and verified. */
export interface Hashing {
  readonly hash: (password: string) => Promise<string>;
  readonly verify: (claim: { readonly hash: string; readonly password: string }) => Promise<boolean>;
  /** Whether a password would be hashed in the same way today. */
  readonly isCurrent: (hash: string) => boolean;
}

/** Runs the work a few at a time, in the order of arrival. Refuses it if too much is waiting. */
export function limitHashing({ hash, verify, isCurrent }: Hashing): Hashing {
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
  return { hash: (password) => inTurn(() => hash(password)), verify: (claim) => inTurn(() => verify(claim)), isCurrent };
}

/** Keyboards write one letter in different ways. Bun refuses to hash nothing, which a sign-in may send; no one can choose a space. */
function readable(password: string): string {
  return password === '' ? ' ' : password.normalize('NFKC');
}
