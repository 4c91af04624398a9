import type { Operation, OperationResult } from './ledger.ts';
import { asNanos } from './money.ts';

/**
 * Operations and results as JSON: to another machine, because that is what PostgreSQL reads, and to another thread,
 * because the runtime copies a text four times as fast as the objects. Amounts travel as texts, since JSON's numbers
 * are too small for them.
 */
export function encodeOperations(operations: readonly Operation[]): string {
  return JSON.stringify(operations.map(toWire));
}

/** The other side of `encodeOperations`. */
export function decodeOperations(text: string): Operation[] {
  return (JSON.parse(text) as WireOperation[]).map(fromWire);
}

/** Results as JSON. */
export function encodeResults(results: readonly OperationResult[]): string {
  return JSON.stringify(
    results.map((result) => {
      if (result.type === 'held') return { type: 'held', amount: String(result.amount) };
      return 'available' in result ? { ...result, available: String(result.available) } : result;
    }),
  );
}

/** Results as they come back, parsed but with texts for amounts. */
export function decodeResults(results: readonly WireResult[]): OperationResult[] {
  return results.map((result) => {
    if (result.amount !== undefined) return { type: 'held', amount: asNanos(BigInt(result.amount)) };
    return (result.available === undefined ? result : { ...result, available: asNanos(BigInt(result.available)) }) as OperationResult;
  });
}

/** A result on the wire. */
export type WireResult = { readonly type: OperationResult['type']; readonly amount?: string; readonly available?: string };

/** An operation whose amounts are texts. */
type WireOperation = Record<string, Record<string, unknown> | undefined>;

function toWire(operation: Operation): unknown {
  switch (operation.type) {
    case 'hold': {
      const { hold } = operation;
      return { type: 'hold', hold: { ...hold, amount: String(hold.amount), minimum: String(hold.minimum) } };
    }
    case 'settle': {
      const { settlement } = operation;
      return { type: 'settle', settlement: { ...settlement, cost: String(settlement.cost) } };
    }
    case 'extend': {
      const { extension } = operation;
      return { type: 'extend', extension: { ...extension, amount: String(extension.amount) } };
    }
    case 'progress': {
      const { progress } = operation;
      return { type: 'progress', progress: { ...progress, cost: String(progress.cost) } };
    }
    case 'recover':
    case 'expire':
    case 'prune':
      return operation;
  }
}

/** Changes the freshly parsed object in place. */
function fromWire(wire: WireOperation): Operation {
  const body = wire['hold'] ?? wire['settlement'] ?? wire['extension'] ?? wire['progress'];
  if (body !== undefined) for (const name of ['amount', 'minimum', 'cost']) if (name in body) body[name] = BigInt(String(body[name]));
  return wire as unknown as Operation;
}
