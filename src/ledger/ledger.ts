import type { TokenUsage } from '../tokens.ts';
import type { Nanos } from './money.ts';

/** The windows that a key's budget can have, by the calendar of the key's zone. */
export const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Money to set aside before a provider is called, and what must be known to settle it should this process not live to do so. */
export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly priceVersion: number;
  /** The worst case. */
  readonly amount: Nanos;
  /** The least that is of use; equal to `amount` when the caller fixed the output limit. */
  readonly minimum: Nanos;
  readonly createdAtMs: number;
}

/** What became of a hold request: money was set aside, or this much was to be had and it is too little. */
export type HoldResult =
  | { readonly type: 'held'; readonly amount: Nanos }
  | { readonly type: 'insufficient_funds'; readonly available: Nanos }
  /** The account may spend the credit of its plan alone, until more of it comes. */
  | { readonly type: 'plan_exhausted'; readonly available: Nanos; readonly resetsAtMs: number }
  | {
      readonly type: 'budget_exhausted';
      readonly available: Nanos;
      readonly period: BudgetPeriod;
      /** When it would be enough, where the key is slowed down and not stopped. */
      readonly freeAtMs?: number | undefined;
    };

/** What a stream has cost so far: charged should this process die before the end. */
export interface Progress {
  readonly requestId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly usage: TokenUsage;
  readonly cost: Nanos;
}

/** More money for a hold that turns out too small. */
export interface Extension {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** What must be held afterwards, all in all: a repetition finds it held and adds nothing. */
  readonly total: Nanos;
}

/** How a request ended; docs/billing.md says what each costs. */
export type Outcome = 'completed' | 'client_gone' | 'failed' | 'recovered';

/** A provider call that failed before the one that counts. */
export interface Attempt {
  readonly provider: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** The end of a request: the hold is given back, the cost is taken, the usage is recorded, all at once. */
export interface Settlement {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** Who answered, and what the model is called there; empty where nobody did. */
  readonly provider: string;
  readonly servedModel: string;
  readonly usage: TokenUsage;
  /** True where the provider reported no credible usage and the counts are our own. */
  readonly isEstimated: boolean;
  readonly priceVersion: number;
  readonly cost: Nanos;
  readonly outcome: Outcome;
  /** The name of our error where the outcome is `failed`. */
  readonly errorCode: string | undefined;
  /** Of the first choice, as it was sent to the caller. */
  readonly finishReason: string | undefined;
  /** For whom the request was made, by the caller's own name for them; of a process that died nobody knows. */
  readonly endUser?: string | undefined;
  readonly isStreaming: boolean;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
  readonly createdAtMs: number;
  /** How often a provider was asked, and which of that failed; the rest is how often the input was read for the answer. */
  readonly attempts: number;
  readonly failedAttempts: readonly Attempt[];
  /**
   * True when the caller has the answer but for its end. Where the charge cannot be written in time, a delivered answer
   * is still charged as soon as it can be; one that the caller will never see is released instead.
   */
  readonly isDelivered: boolean;
}

/** Whether a settlement found its hold. If not, somebody resolved it before: the same call, or the recovery of a node taken for dead. */
export type SettleResult = 'settled' | 'resolved_before';

/**
 * Holds money before a provider is called and settles it afterwards, each exactly once. What its promises resolve with
 * is committed, and a charge is on disk. They reject with `ledger_unavailable` when it could not be written.
 */
export interface Ledger {
  hold(request: HoldRequest): Promise<HoldResult>;
  /** True when the hold grew; false when there is no money for it, or no hold any more. */
  extend(extension: Extension): Promise<boolean>;
  /** Written with the next batch and not waited for. */
  progress(progress: Progress): void;
  settle(settlement: Settlement): Promise<SettleResult>;
  /** False when no charge can be written any more: then this process must not take work. */
  readonly isWritable: boolean;
  /** Ends when everything that was asked for is written. */
  close(): Promise<void>;
}

/** One change of the ledger, in a form that can be handed to another thread or machine. */
export type Operation =
  | { readonly type: 'hold'; readonly hold: HoldRequest }
  | { readonly type: 'extend'; readonly extension: Extension }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'settle'; readonly settlement: Settlement }
  /** Settles the holds of processes that are no more, at their last progress. */
  | { readonly type: 'recover' }
  /** Takes back credit whose time is over, as far as no running request may need it. */
  | { readonly type: 'expire'; readonly nowMs: number }
  /** Drops the oldest usage rows, as many as a transaction should; their transfers and roll-ups stay. */
  | { readonly type: 'prune'; readonly beforeId: string };

/** What became of an operation; `count` is how many holds were recovered, grants expired or rows dropped. */
export type OperationResult =
  | HoldResult
  | { readonly type: SettleResult | 'extended' | 'refused' | 'recorded' }
  | { readonly type: 'done'; readonly count: number };

/** Where the ledger is kept: the embedded database, or PostgreSQL. This is all that the two have to do alike. */
export interface LedgerStore {
  /**
   * Carries out the operations in their order, in one transaction; one call at a time. Resolves when it is committed and, unless all are
   * holds, on disk; when it rejects, either nothing of it happened, or all of it did and a repetition finds that out.
   */
  apply(operations: readonly Operation[]): Promise<readonly OperationResult[]>;
  readonly isAlive: boolean;
  close(): Promise<void>;
}
