import type { OpenDatabase } from '../database/connect.ts';
import type { Auth } from './auth/auth.ts';
import type { Mail } from './mail.ts';
import type { MoneyIn } from '../payments/open.ts';
import type { PastKeeper } from '../usage/past-keeper.ts';
import type { DashboardSettings, GateQuestion } from './messages.ts';

/** Everything that the routes of the dashboard work with. */
export interface Parts {
  readonly settings: DashboardSettings;
  readonly database: OpenDatabase;
  readonly auth: Auth;
  readonly mail: Mail;
  readonly money: MoneyIn;
  readonly past: PastKeeper;
  /** Asks the gate for what only its memory has. */
  readonly ask: (question: GateQuestion) => Promise<unknown>;
  readonly fail: (event: string, error: unknown) => void;
  /** Prints something for the operator, such as a link that could not be mailed. */
  readonly notice: (text: string) => void;
}

/** Who is signed in. */
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
  /** Set where an operator looks at somebody else's account: it is read as its owner reads it, but for what only owners may. */
  readonly viewedBy?: string;
}

/** What Hono knows about a request beside the request itself. */
export interface Env {
  readonly Bindings: { readonly address: string };
  readonly Variables: { readonly person: Person; readonly requestId: string };
}
