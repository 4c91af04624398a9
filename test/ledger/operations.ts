import type { Attempt, Operation, Outcome } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { NO_TOKENS, type TokenUsage } from '../../src/tokens.ts';

/** The account that pays and the key that is used. */
export interface Owner {
  readonly accountId: string;
  readonly keyId: string;
}

export const MODEL = 'mock/gpt';
export const USAGE: TokenUsage = {
  ...NO_TOKENS,
  inputTokens: 10,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  outputTokens: 7,
  reasoningTokens: 4,
};

type Hold = Extract<Operation, { type: 'hold' }>;

interface HoldFacts {
  readonly amount: bigint;
  readonly minimum?: bigint;
  readonly createdAtMs?: number;
}

/** Builds an operation that holds money: the whole amount or nothing, unless a minimum is given. */
export function holdOf(owner: Owner, requestId: string, { amount, minimum = amount, createdAtMs = Date.now() }: HoldFacts): Hold {
  const hold = { ...owner, requestId, model: MODEL, priceVersion: 0, amount: asNanos(amount), minimum: asNanos(minimum), createdAtMs };
  return { type: 'hold', hold };
}

interface SettleFacts {
  readonly cost: bigint;
  readonly usage?: TokenUsage;
  readonly outcome?: Outcome;
  readonly createdAtMs?: number;
  readonly failedAttempts?: readonly Attempt[];
  readonly isDelivered?: boolean;
  readonly provider?: string;
  readonly endUser?: string;
}

/** Builds the operation that ends a request. */
export function settleOf(owner: Owner, requestId: string, facts: SettleFacts): Extract<Operation, { type: 'settle' }> {
  const { cost, usage = USAGE, outcome = 'completed', createdAtMs = Date.now(), failedAttempts = [], isDelivered = true } = facts;
  const isFailed = outcome === 'failed';
  const settlement = {
    ...owner,
    requestId,
    model: MODEL,
    provider: facts.provider ?? 'mock',
    servedModel: 'gpt-at-mock',
    usage,
    isEstimated: false,
    priceVersion: 0,
    cost: asNanos(cost),
    outcome,
    errorCode: isFailed ? 'provider_error' : undefined,
    finishReason: isFailed ? undefined : 'stop',
    endUser: facts.endUser,
    isStreaming: !isFailed,
    firstTokenMs: isFailed ? undefined : 12,
    durationMs: 34,
    createdAtMs,
    attempts: failedAttempts.length + 1,
    failedAttempts,
    isDelivered,
  };
  return { type: 'settle', settlement };
}

/** Builds the operation that releases a hold unused. */
export function releaseOf(owner: Owner, requestId: string, createdAtMs?: number): Operation {
  return settleOf(owner, requestId, { cost: 0n, usage: NO_TOKENS, outcome: 'failed', ...(createdAtMs !== undefined && { createdAtMs }) });
}

/** Builds the operation that extends a hold to this total. */
export function extendOf(owner: Owner, requestId: string, total: bigint): Extract<Operation, { type: 'extend' }> {
  return { type: 'extend', extension: { ...owner, requestId, total: asNanos(total) } };
}

/** Builds the operation that records what a stream has cost so far. */
export function progressOf(
  { accountId }: Owner,
  requestId: string,
  cost: bigint,
  usage: TokenUsage = USAGE,
): Extract<Operation, { type: 'progress' }> {
  return { type: 'progress', progress: { requestId, accountId, provider: 'mock', usage, cost: asNanos(cost) } };
}
