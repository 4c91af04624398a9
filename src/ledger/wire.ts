import type { HoldRequest, Operation, OperationResult, Settlement } from './ledger.ts';
import { asNanos } from './money.ts';

/** Encodes operations as JSON for PostgreSQL. Amounts are strings, because they exceed the range of JSON numbers. */
export function encodeOperations(operations: readonly Operation[]): string {
  let text = '';
  for (const operation of operations) text += `${text === '' ? '[' : ','}${encodeOperation(operation)}`;
  return text === '' ? '[]' : `${text}]`;
}

/** Decodes parsed results, whose amounts are strings. */
export function decodeResults(results: readonly WireResult[]): OperationResult[] {
  return results.map((result) => {
    if (result.amount !== undefined) return { type: 'held', amount: asNanos(BigInt(result.amount)) };
    return (result.available === undefined ? result : { ...result, available: asNanos(BigInt(result.available)) }) as OperationResult;
  });
}

/** A result as PostgreSQL returns it. */
export type WireResult = { readonly type: OperationResult['type']; readonly amount?: string; readonly available?: string };

/** Spells out the two operations every request has: JSON.stringify takes four times as long, and requests wait for it. */
function encodeOperation(operation: Operation): string {
  switch (operation.type) {
    case 'hold':
      return encodeHold(operation.hold);
    case 'settle':
      return encodeSettlement(operation.settlement);
    case 'extend': {
      const { extension } = operation;
      return JSON.stringify({ type: 'extend', extension: { ...extension, total: String(extension.total) } });
    }
    case 'progress': {
      const { progress } = operation;
      return JSON.stringify({ type: 'progress', progress: { ...progress, cost: String(progress.cost) } });
    }
    case 'recover':
    case 'expire':
    case 'prune':
      return JSON.stringify(operation);
  }
}

function encodeHold(hold: HoldRequest): string {
  return (
    `{"type":"hold","hold":{"requestId":${quote(hold.requestId)},"accountId":${quote(hold.accountId)},"keyId":${quote(hold.keyId)},` +
    `"model":${quote(hold.model)},"priceVersion":${hold.priceVersion},"amount":"${hold.amount}","minimum":"${hold.minimum}",` +
    `"createdAtMs":${hold.createdAtMs}}}`
  );
}

function encodeSettlement(settlement: Settlement): string {
  const { usage, firstTokenMs, errorCode, finishReason, endUser, failedAttempts } = settlement;
  return (
    `{"type":"settle","settlement":{"requestId":${quote(settlement.requestId)},"accountId":${quote(settlement.accountId)},` +
    `"keyId":${quote(settlement.keyId)},"model":${quote(settlement.model)},"provider":${quote(settlement.provider)},` +
    `"servedModel":${quote(settlement.servedModel)},` +
    `"usage":{"inputTokens":${usage.inputTokens},"cachedInputTokens":${usage.cachedInputTokens},` +
    `"cacheWriteTokens":${usage.cacheWriteTokens},"outputTokens":${usage.outputTokens},"reasoningTokens":${usage.reasoningTokens}},` +
    `"isEstimated":${settlement.isEstimated},"priceVersion":${settlement.priceVersion},"cost":"${settlement.cost}",` +
    `"outcome":"${settlement.outcome}",${errorCode === undefined ? '' : `"errorCode":${quote(errorCode)},`}` +
    `${finishReason === undefined ? '' : `"finishReason":${quote(finishReason)},`}${endUser === undefined ? '' : `"endUser":${quote(endUser)},`}"isStreaming":${settlement.isStreaming},` +
    `${firstTokenMs === undefined ? '' : `"firstTokenMs":${firstTokenMs},`}"durationMs":${settlement.durationMs},"createdAtMs":${settlement.createdAtMs},"attempts":${settlement.attempts},` +
    `"failedAttempts":${failedAttempts.length === 0 ? '[]' : JSON.stringify(failedAttempts)},"isDelivered":${settlement.isDelivered}}}`
  );
}

/** Quotes a string. Ids rarely need escapes. */
function quote(text: string): string {
  return NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`;
}

const NEEDS_ESCAPES = /["\\\p{Cc}\p{Cs}]/u;
