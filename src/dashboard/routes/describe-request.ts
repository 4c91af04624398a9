import { timeOf } from '../../ids.ts';
import { asNanos, formatPricePerMillion, formatPicos, formatUsd } from '../../ledger/money.ts';
import { answerHeaders } from '../../usage/answer-headers.ts';
import type { CostEquation } from '../../usage/cost-equation.ts';
import { explainError } from '../../usage/error-meanings.ts';
import type { ChargeTransfer, RequestDetail } from '../../usage/request-detail.ts';
import type { RefusalRow } from '../../usage/refusals.ts';
import type { RequestRow } from '../../usage/requests.ts';

/** Describes a request for lists. */
export function describeRequest(row: RequestRow) {
  return {
    id: row.request_id,
    atMs: Number(row.created_at),
    status: row.outcome === 'failed' ? ('error' as const) : ('ok' as const),
    outcome: row.outcome,
    errorCode: row.error_code,
    model: row.model,
    servedModel: row.served_model,
    provider: row.provider,
    keyId: row.key_id,
    endUser: row.end_user,
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    isEstimated: row.is_estimated === 1n,
    costUsd: formatUsd(asNanos(row.cost)),
    firstTokenMs: row.first_token_ms === null ? null : Number(row.first_token_ms),
    durationMs: Number(row.duration_ms),
    isStreaming: row.is_streaming === 1n,
    finishReason: row.finish_reason,
    attempts: Number(row.attempts),
  };
}

/** Describes a request that was refused before any provider was called. */
export function describeRefusal(row: RefusalRow) {
  return {
    id: row.request_id,
    atMs: timeOf(row.request_id),
    status: Number(row.status),
    errorCode: row.error_code,
    param: row.param,
    message: row.message,
    model: row.model,
    keyId: row.key_id,
    isStreaming: row.is_streaming === 1n,
    others: Number(row.others),
  };
}

/** Describes a request with all its details. */
export function describeDetail({ row, attempts, equation, transfer, content }: RequestDetail) {
  return {
    ...describeRequest(row),
    heldUsd: formatUsd(asNanos(row.held)),
    priceVersion: Number(row.price_version),
    error: row.error_code === null ? null : explainError(row.error_code),
    headers: answerHeaders(row),
    steps: attempts,
    equation: describeEquation(equation),
    transfer: transfer === undefined ? null : describeTransfer(transfer),
    paidFrom: describeCredit(row),
    content: content ?? null,
  };
}

/** Splits the cost by plan credit, promo credit and balance; null if the balance paid all of it. */
function describeCredit({ cost, plan_cost: plan, promo_cost: promo }: RequestRow) {
  if (plan === null || promo === null) return null;
  return { planUsd: formatUsd(asNanos(plan)), promoUsd: formatUsd(asNanos(promo)), balanceUsd: formatUsd(asNanos(cost - plan - promo)) };
}

function describeTransfer({ id, amount, atMs, balanceAfter }: ChargeTransfer) {
  return {
    id,
    atMs,
    amountUsd: formatUsd(amount),
    balanceBeforeUsd: formatUsd(asNanos(balanceAfter + amount)),
    balanceAfterUsd: formatUsd(balanceAfter),
  };
}

function describeEquation(equation: CostEquation) {
  switch (equation.type) {
    case 'free':
      return { type: 'free' as const };
    case 'unrecorded':
      return { type: 'unrecorded' as const, costUsd: formatUsd(equation.cost) };
    case 'computed':
      return {
        type: 'computed' as const,
        priceVersion: equation.priceVersion,
        parts: equation.parts.map(({ bucket, tokens, price, amount }) => {
          return { bucket, tokens, pricePerMillionUsd: formatPricePerMillion(price), amountUsd: formatPicos(amount) };
        }),
        sumUsd: formatPicos(equation.sum),
        roundedUsd: formatUsd(equation.rounded),
        longOverTokens: equation.longOverTokens ?? null,
        costUsd: formatUsd(equation.cost),
        isExact: equation.isExact,
      };
  }
}
