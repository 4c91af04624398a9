import type { OpenDatabase } from '../database/connect.ts';
import type { Auth } from './auth/auth.ts';
import type { Mail } from './mail.ts';
import type { MoneyIn } from '../payments/open.ts';
import type { HistoryKeeper } from '../usage/history-keeper.ts';
import type { DashboardSettings, GateQuestion } from './messages.ts';

/** Everything that the dashboard's routes depend on. */
export interface Dependencies {
  readonly settings: DashboardSettings;
  readonly database: OpenDatabase;
  readonly auth: Auth;
  readonly mail: Mail;
  readonly money: MoneyIn;
  readonly history: HistoryKeeper;
  /** Asks the gate for data that exists only in its memory. */
  readonly ask: (question: GateQuestion) => Promise<unknown>;
  readonly fail: (event: string, error: unknown) => void;
  /** Prints a text for the operator, such as a link that could not be emailed. */
  readonly notice: (text: string) => void;
}

/** The person who is signed in. */
export interface Person {
  readonly userId: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly name: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly hasTwoFactor: boolean;
  readonly signedInAtMs: number;
  readonly isOperator: boolean;
  /** The email address of an operator who views this account. They see what the owner sees, except for data that only the owner may see. */
  readonly viewedBy?: string;
}

/** What handlers know about a request besides the request itself. */
export interface Env {
  readonly Bindings: { readonly address: string };
  readonly Variables: { readonly person: Person; readonly requestId: string };
}
