import type { TokenUsage } from '../tokens.ts';
import type { Nanos } from './money.ts';

/** Money to set aside before a provider is called. */
export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  /** The worst case. */
  readonly amount: Nanos;
  /** The least that is of use; equal to `amount` when the caller fixed the output limit. */
  readonly minimum: Nanos;
}

/** What became of a hold request: money was set aside, or there was not enough and this much is available. */
export type HoldResult =
  | { readonly type: 'held'; readonly amount: Nanos }
  | { readonly type: 'insufficient_funds'; readonly available: Nanos };

/** How a request ended; docs/billing.md says what each costs. */
export type Outcome = 'completed' | 'client_gone' | 'failed';

/** The end of a request: the hold is given back, the cost is taken, the usage is recorded, all at once. */
export interface Settlement {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly provider: string;
  readonly usage: TokenUsage;
  /** True where the provider reported no credible usage and the counts are our own. */
  readonly isEstimated: boolean;
  readonly cost: Nanos;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly createdAtMs: number;
}

/** Holds money before a provider is called and settles it afterwards. A charge is on disk when its promise resolves. */
export interface Ledger {
  hold(request: HoldRequest): Promise<HoldResult>;
  /** Settles a hold once; a second settlement of the same request changes nothing. */
  settle(settlement: Settlement): Promise<void>;
  /** Somebody else may have changed balances: they are read again before the next hold. */
  refresh(): void;
  /** False when no charge can be written any more: then this process must not take work. */
  readonly isWritable: boolean;
  close(): Promise<void>;
}
