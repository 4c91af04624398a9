import { GatewayError, type ErrorName } from '../errors.ts';
import type { HoldResult } from '../ledger/ledger.ts';
import { formatUsd, NO_MONEY } from '../ledger/money.ts';
import { affordableOutputTokens, type Quote } from './price.ts';

/** A hold that the ledger refused. */
type Refused = Exclude<HoldResult, { type: 'held' }>;

interface Explanation {
  readonly what: string;
  readonly advice: string;
}

/** Returns the error for a refused hold: what is missing, how much, and what to do about it. */
export function refusalOf(quoted: Quote, result: Refused): GatewayError {
  const available = result.available > 0n ? result.available : NO_MONEY;
  const tokens = affordableOutputTokens(quoted, available);
  const shorter = quoted.hasCallerLimit && tokens > 0 ? `, or lower the output limit: this pays for about ${tokens} tokens` : '';
  const { what, advice } = explain(result);
  // A running request may hold all there is, and most of it is free again when it ends.
  const has = `$${formatUsd(available)} is available, apart from what running requests hold`;
  const needs = `this request needs at least $${formatUsd(quoted.minimum)}, and ${has}`;
  return new GatewayError(nameOf(result), `${what}: ${needs}. ${advice}${shorter}.`, {
    ...(result.type === 'budget_exhausted' &&
      result.freeAtMs !== undefined && { retryAfterSeconds: (result.freeAtMs - Date.now()) / 1000 }),
  });
}

function nameOf(result: Refused): ErrorName {
  if (result.type !== 'budget_exhausted') return 'insufficient_quota';
  return result.freeAtMs === undefined ? 'budget_exhausted' : 'budget_slowed';
}

function explain(result: Refused): Explanation {
  switch (result.type) {
    case 'insufficient_funds':
      return { what: 'The account balance is insufficient', advice: 'Top up the account' };
    case 'budget_exhausted': {
      const period = result.period === 'total' ? 'in total' : `per ${result.period}`;
      if (result.freeAtMs !== undefined) return explainPace(period, result.freeAtMs);
      return { what: `The budget of this API key (${period}) is used up`, advice: "Raise the key's budget, or use another key" };
    }
    case 'plan_exhausted': {
      const day = new Date(result.resetsAtMs).toISOString().slice(0, 10);
      const wait = result.resetsAtMs > Date.now() ? `wait until ${day}, when its period ends` : `pay for it: it was due to renew on ${day}`;
      return {
        what: "The plan's credit is used up, and the plan does not continue with the balance",
        advice: `Choose a larger plan, or ${wait}`,
      };
    }
  }
}

function explainPace(period: string, freeAtMs: number): Explanation {
  const at = `${new Date(Math.ceil(freeAtMs / 1000) * 1000).toISOString().slice(0, 19)}Z`;
  return {
    what: `This API key is slowed down near the end of its budget (${period})`,
    advice: `Try again at ${at}, when enough of it is free, raise the key's budget, or use another key`,
  };
}
