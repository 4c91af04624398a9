import type { Person } from './parts.ts';

/** Registration, sign-in and sessions. */
export interface Auth {
  /** Answers everything under `/api/auth`. */
  handle(request: Request, address: string): Promise<Response>;
  /** Who the session cookie in these headers belongs to. */
  findPerson(headers: Headers): Promise<Person | undefined>;
}
