import type { TokenUsage } from '../tokens.ts';
import type { Nanos } from './money.ts';

/** The windows a key's budget can have, by the calendar of the key's time zone. */
export const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Money to set aside before a provider is called, with everything needed to settle it if this process dies first. */
export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly priceVersion: number;
  /** The worst-case cost. */
  readonly amount: Nanos;
  /** The smallest useful hold. Equal to `amount` when the caller set an output limit. */
  readonly minimum: Nanos;
  readonly createdAtMs: number;
}

/** The result of a hold: either the amount set aside, or why there was not enough money. */
export type HoldResult =
  | { readonly type: 'held'; readonly amount: Nanos }
  | { readonly type: 'insufficient_funds'; readonly available: Nanos }
  /** The account may only spend its plan's credit, which renews at `resetsAtMs`. */
  | { readonly type: 'plan_exhausted'; readonly available: Nanos; readonly resetsAtMs: number }
  | {
      readonly type: 'budget_exhausted';
      readonly available: Nanos;
      readonly period: BudgetPeriod;
      /** When the request would fit. Set when the key slows down at its limit instead of stopping. */
      readonly freeAtMs?: number | undefined;
    };

/** What a stream has cost so far. This is what is charged if the process dies before the stream ends. */
export interface Progress {
  readonly requestId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly usage: TokenUsage;
  readonly cost: Nanos;
}

/** More money for a hold that turned out too small. */
export interface Extension {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The total to hold afterwards. A repeated extension finds that much held and adds nothing. */
  readonly total: Nanos;
}

/** How a request ended. docs/billing.md lists what each outcome costs. */
export type Outcome = 'completed' | 'client_gone' | 'failed' | 'recovered';

/** A provider call that failed before the one that answered. */
export interface Attempt {
  readonly provider: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** The end of a request. One step releases the hold, takes the cost and records the usage. */
export interface Settlement {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** The provider that answered, and the model's name there. Both empty when none answered. */
  readonly provider: string;
  readonly servedModel: string;
  readonly usage: TokenUsage;
  /** True when the provider reported no credible usage and the gate counted the tokens itself. */
  readonly isEstimated: boolean;
  readonly priceVersion: number;
  readonly cost: Nanos;
  readonly outcome: Outcome;
  /** The name of the gate's own error, when the outcome is `failed`. */
  readonly errorCode: string | undefined;
  /** Of the first choice, as sent to the caller. */
  readonly finishReason: string | undefined;
  /** The caller's own name for its end user. Unknown for a process that died. */
  readonly endUser?: string | undefined;
  readonly isStreaming: boolean;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
  readonly createdAtMs: number;
  /** Provider calls in total. Without the failed ones, this is how often the input was read for the answer. */
  readonly attempts: number;
  readonly failedAttempts: readonly Attempt[];
  /**
   * True when the caller has received the answer up to its last event. If the charge cannot be written in time, a delivered
   * answer is charged later; an answer the caller will never see is released instead.
   */
  readonly isDelivered: boolean;
}

/** Whether a settlement found its hold. If not, it was resolved before: by the same call, or by the recovery of a node presumed dead. */
export type SettleResult = 'settled' | 'resolved_before';

/**
 * Holds money before a provider is called and settles it afterwards, each exactly once. When a promise resolves, its change is
 * committed, and a charge is on disk. Promises reject with `ledger_unavailable` when it could not be written.
 */
export interface Ledger {
  hold(request: HoldRequest): Promise<HoldResult>;
  /** Resolves to false when there is not enough money, or the hold is gone. */
  extend(extension: Extension): Promise<boolean>;
  /** Written with the next batch, without waiting for it. */
  progress(progress: Progress): void;
  settle(settlement: Settlement): Promise<SettleResult>;
  /** False when charges cannot be written. This process must then take no work. */
  readonly isWritable: boolean;
  /** Resolves when all queued operations are written. */
  close(): Promise<void>;
}

/** One change to the ledger, in a form that can be sent to another thread or machine. */
export type Operation =
  | { readonly type: 'hold'; readonly hold: HoldRequest }
  | { readonly type: 'extend'; readonly extension: Extension }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'settle'; readonly settlement: Settlement }
  /** Settles the holds of dead processes at their last recorded progress. */
  | { readonly type: 'recover' }
  /** Takes back expired credit, except what running requests may need. */
  | { readonly type: 'expire'; readonly nowMs: number }
  /** Deletes the oldest usage rows, as many as fit in one transaction. Their transfers and roll-ups stay. */
  | { readonly type: 'prune'; readonly beforeId: string };

/**
 * The result of an operation. `count` is the number of holds recovered, grants expired or rows deleted. `stuck` are holds that were found to
 * be unrecoverable: the next recovery tries them again, after all others.
 */
export type OperationResult =
  | HoldResult
  | { readonly type: SettleResult | 'extended' | 'refused' | 'recorded' }
  | { readonly type: 'done'; readonly count: number; readonly stuck?: readonly string[] };

/** Marks holds that recovery could not settle, in place of the node they belonged to. */
export const STUCK = 'stuck';

/** An operation that the ledger cannot write, now or later. */
export interface SetAside {
  readonly type: Operation['type'];
  readonly requestId?: string | undefined;
  readonly accountId?: string | undefined;
  /** What the request cost. */
  readonly cost?: Nanos | undefined;
  readonly error?: unknown;
}

/** Where the ledger is stored: the embedded database or PostgreSQL. Both implement only this. */
export interface LedgerStore {
  /**
   * Applies the operations in order, in one transaction; called once at a time. Resolves when committed and, unless all are
   * holds, on disk. If it rejects, either none of it happened, or all of it did and a retry will find that out.
   */
  apply(operations: readonly Operation[]): Promise<readonly OperationResult[]>;
  /** True if the store works, and an operation cannot be written: trying again as it is would be in vain. */
  isRefusal(error: unknown): boolean;
  readonly isAlive: boolean;
  close(): Promise<void>;
}
