import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Operation } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { encodeOperations } from '../../src/ledger/wire.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('req_1', 'a"b', 'a\\b', 'a\nb', '\ud800', 'openai/gpt-5.1'));
const count = fc.nat(2 ** 31);
const amount = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(asNanos);
const usage = fc.record({
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  outputTokens: count,
  reasoningTokens: count,
});
const subject = { requestId: text, accountId: text, keyId: text, model: text, priceVersion: count, createdAtMs: count };
const attempt = fc.record({ provider: text, outcome: text, durationMs: count });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ ...subject, amount, minimum: amount }).map((hold): Operation => ({ type: 'hold', hold })),
  fc
    .record(
      {
        ...subject,
        provider: text,
        servedModel: text,
        usage,
        errorCode: fc.option(text, { nil: undefined }),
        finishReason: fc.option(text, { nil: undefined }),
        endUser: fc.option(text, { nil: undefined }),
        isStreaming: fc.boolean(),
        isEstimated: fc.boolean(),
        cost: amount,
        outcome: fc.constantFrom('completed' as const, 'client_gone' as const, 'failed' as const, 'recovered' as const),
        firstTokenMs: fc.option(count, { nil: undefined }),
        durationMs: count,
        attempts: count,
        failedAttempts: fc.array(attempt, { maxLength: 3 }),
        isDelivered: fc.boolean(),
      },
      { noNullPrototype: true },
    )
    .map((settlement): Operation => ({ type: 'settle', settlement })),
  fc
    .record({ requestId: text, accountId: text, keyId: text, total: amount })
    .map((extension): Operation => ({ type: 'extend', extension })),
  fc
    .record({ requestId: text, accountId: text, provider: text, usage, cost: amount })
    .map((progress): Operation => ({ type: 'progress', progress })),
  fc.constantFrom<Operation>({ type: 'recover' }, { type: 'expire', nowMs: 5 }, { type: 'prune', beforeId: 'req_0' }),
);

function expectArrival(operations: Operation[]): void {
  expect(JSON.parse(encodeOperations(operations), readAmount)).toEqual(operations);
}

test('operations survive the encoding, whatever text they contain', () => {
  fc.assert(fc.property(fc.array(operation, { maxLength: 5 }), expectArrival), { numRuns: 1000 });
});

/** Fields with these names are amounts, encoded as strings. */
function readAmount(name: string, value: unknown): unknown {
  return AMOUNTS.has(name) ? BigInt(String(value)) : value;
}

const AMOUNTS = new Set(['amount', 'minimum', 'cost', 'total']);
