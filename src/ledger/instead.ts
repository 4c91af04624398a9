import { NO_TOKENS } from '../tokens.ts';
import type { HoldRequest, Operation, SetAside, Settlement } from './ledger.ts';
import { NO_MONEY } from './money.ts';

/**
 * What is written for a settlement that cannot be: an answer that the caller does not get is released. Of one that it got, the cost is
 * recorded. Its hold stays open, until it is older than any request and recovery charges that.
 */
export function insteadOf(operation: Operation): Operation | undefined {
  if (operation.type !== 'settle') return undefined;
  const { settlement } = operation;
  if (!settlement.isDelivered) return withheldOf({ ...settlement, isDelivered: true });
  const { requestId, accountId, provider, usage, cost } = settlement;
  return { type: 'progress', progress: { requestId, accountId, provider, usage, cost } };
}

/** Describes an operation to the operator. */
export function subjectOf(operation: Operation): SetAside {
  const { type } = operation;
  switch (type) {
    case 'hold':
      return { type, requestId: operation.hold.requestId, accountId: operation.hold.accountId };
    case 'extend':
      return { type, requestId: operation.extension.requestId, accountId: operation.extension.accountId };
    case 'progress':
      return { type, requestId: operation.progress.requestId, accountId: operation.progress.accountId, cost: operation.progress.cost };
    case 'settle':
      return {
        type,
        requestId: operation.settlement.requestId,
        accountId: operation.settlement.accountId,
        cost: operation.settlement.cost,
      };
    case 'recover':
    case 'expire':
    case 'prune':
      return { type };
  }
}

/** Returns the end of an answer that its caller will not get: nothing is charged. */
export function withheldOf(settlement: Settlement): Operation {
  return { type: 'settle', settlement: { ...settlement, ...NOTHING } };
}

/** Returns what releases a hold that may have been written without our knowing. */
export function releaseOf({ requestId, accountId, keyId, model, priceVersion, createdAtMs }: HoldRequest): Operation {
  const subject = { requestId, accountId, keyId, model, priceVersion, createdAtMs };
  const settlement: Settlement = {
    ...NOTHING,
    ...subject,
    provider: '',
    servedModel: '',
    isStreaming: false,
    firstTokenMs: undefined,
    durationMs: 0,
    attempts: 0,
    failedAttempts: [],
    isDelivered: true,
  };
  return { type: 'settle', settlement };
}

const NOTHING = {
  usage: NO_TOKENS,
  cost: NO_MONEY,
  outcome: 'failed',
  errorCode: 'ledger_unavailable',
  finishReason: undefined,
  isEstimated: false,
} as const;
