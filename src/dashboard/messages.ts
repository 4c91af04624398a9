import type { Config } from '../config.ts';
import type { DatabasePlace } from '../database/connect.ts';
import type { Posting } from '../http/post-webhook.ts';
import type { OwnLimits } from '../limits/limits.ts';

/**
 * What the server's main thread and the dashboard's thread tell each other. Requests of browsers go over as they are;
 * answers come back whole, or piece by piece when they are long: then each piece is asked for, so that a slow reader
 * holds up the query and not the memory.
 */
export type ToDashboard =
  | { readonly type: 'start'; readonly settings: DashboardSettings }
  | { readonly type: 'request'; readonly id: number; readonly request: CarriedRequest }
  | { readonly type: 'pull' | 'cancel'; readonly id: number }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  /** The gate failed over a question, and has logged why. */
  | { readonly type: 'unanswered'; readonly id: number }
  | { readonly type: 'close' };

export type FromDashboard =
  | { readonly type: 'reply'; readonly id: number; readonly reply: CarriedReply }
  | { readonly type: 'piece'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** `isWhole` is false when the answer broke off. */
  | { readonly type: 'end'; readonly id: number; readonly isWhole: boolean }
  | { readonly type: 'question'; readonly id: number; readonly question: GateQuestion }
  | { readonly type: 'failure'; readonly event: string; readonly error: CarriedError }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'closed' };

/** A browser's request, in a form that can change threads. */
export interface CarriedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Where the connection comes from. */
  readonly address: string;
}

/** The answer to it; without a body it comes in pieces. */
export interface CarriedReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** An error, in a form that can change threads: by itself it would lose its name and its code, which say what to do. */
export interface CarriedError {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

/** What the dashboard must ask the gate for, because only the gate's memory has it. */
export type GateQuestion =
  | { readonly type: 'catalogue' | 'price-list' | 'providers' | 'ledger' }
  | { readonly type: 'trial'; readonly provider: string; readonly model: string }
  | { readonly type: 'limits'; readonly keyId: string; readonly own: OwnLimits }
  | { readonly type: 'webhook'; readonly posting: Posting };

type OwnSettings = 'smtpUrl' | 'mailFrom' | 'signUp' | 'signUpCreditUsd' | 'signInProviders' | 'secret' | 'trustedProxies' | 'payments';

/** What the dashboard is told when it starts: the part of the settings that concerns it. */
export interface DashboardSettings extends DatabasePlace, Pick<Config, OwnSettings> {
  /** The address under which people reach the service, without a path. */
  readonly publicUrl: string;
  /** All settings that operators may read. */
  readonly shown: readonly ShownSetting[];
}

/** A setting, by the name of its environment variable or of its key in `tollgate.yaml`. */
export interface ShownSetting {
  readonly group: 'service' | 'people' | 'payments' | 'limits';
  readonly name: string;
  /** Null where it is not set. */
  readonly value: string | null;
}
