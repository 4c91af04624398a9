import type { Config } from '../config.ts';
import type { DatabasePlace } from '../database/connect.ts';
import type { Posting } from '../http/post-webhook.ts';
import type { OwnLimits } from '../limits/limits.ts';

/**
 * Messages from the main thread to the dashboard's thread. Browsers' requests are passed on unchanged. Short responses come
 * back whole. Long ones are streamed: each chunk is pulled, so a slow reader delays the query instead of filling the memory.
 */
export type ToDashboard =
  | { readonly type: 'start'; readonly settings: DashboardSettings }
  | { readonly type: 'request'; readonly id: number; readonly request: CarriedRequest }
  | { readonly type: 'pull' | 'cancel'; readonly id: number }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  /** The gate failed to answer a question and has logged why. */
  | { readonly type: 'unanswered'; readonly id: number }
  | { readonly type: 'close' };

/** Messages from the dashboard's thread to the main thread. */
export type FromDashboard =
  | { readonly type: 'reply'; readonly id: number; readonly reply: CarriedReply }
  | { readonly type: 'piece'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** `isWhole` is false if the response was cut off. */
  | { readonly type: 'end'; readonly id: number; readonly isWhole: boolean }
  | { readonly type: 'question'; readonly id: number; readonly question: GateQuestion }
  | { readonly type: 'failure'; readonly event: string; readonly error: CarriedError }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'closed' };

/** A browser's request, in a form that can be sent to another thread. */
export interface CarriedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** The IP address of the connection. */
  readonly address: string;
}

/** The response to a browser's request. If the body is undefined, it is streamed in chunks. */
export interface CarriedReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** An error, in a form that can be sent to another thread. An Error object would lose its name and code. */
export interface CarriedError {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

/** A question about data that exists only in the gate's memory. */
export type GateQuestion =
  | { readonly type: 'catalogue' | 'price-list' | 'providers' | 'ledger' }
  | { readonly type: 'trial'; readonly provider: string; readonly model: string }
  | { readonly type: 'limits'; readonly keyId: string; readonly own: OwnLimits }
  | { readonly type: 'webhook'; readonly posting: Posting };

type OwnSettings = 'smtpUrl' | 'mailFrom' | 'signUp' | 'signUpCreditUsd' | 'signInProviders' | 'secret' | 'trustedProxies' | 'payments';

/** The settings that the dashboard's thread gets when it starts. */
export interface DashboardSettings extends DatabasePlace, Pick<Config, OwnSettings> {
  /** The public URL of the service, without a path. */
  readonly publicUrl: string;
  /** All settings that operators may read. */
  readonly shown: readonly ShownSetting[];
}

/** A setting, named by its environment variable or its key in `tollgate.yaml`. */
export interface ShownSetting {
  readonly group: 'service' | 'people' | 'payments' | 'limits';
  readonly name: string;
  /** Null if it is not set. */
  readonly value: string | null;
}

/** How the dashboard tells the operator about what happens in the background. */
export interface Reporting {
  readonly fail: (event: string, error: unknown) => void;
  /** Prints a text for the operator, such as a link that could not be emailed. */
  readonly notice: (text: string) => void;
}
