import type { OpenDatabase } from '../database/connect.ts';
import type { Auth } from './auth/auth.ts';
import type { Mail } from './mail.ts';
import type { MoneyIn } from '../payments/open.ts';
import type { HistoryKeeper } from '../usage/history-keeper.ts';
import type { DashboardSettings, GateQuestion, Reporting } from './messages.ts';

// Most routes need these together with their dependencies.
export type { Env, Person } from './person.ts';

/** Everything that the dashboard's routes depend on. */
export interface Dependencies extends Reporting {
  readonly settings: DashboardSettings;
  readonly database: OpenDatabase;
  readonly auth: Auth;
  readonly mail: Mail;
  readonly money: MoneyIn;
  readonly history: HistoryKeeper;
  /** Asks the gate for data that exists only in its memory. */
  readonly ask: (question: GateQuestion) => Promise<unknown>;
}
