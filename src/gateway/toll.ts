import type { KeyHolder } from '../accounts/keys.ts';
import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { Outcome } from '../ledger/ledger.ts';
import { formatUsd, NO_MONEY, type Nanos } from '../ledger/money.ts';
import type { Admission } from '../limits/limits.ts';
import type { ChatRequest } from '../openai/types.ts';
import { NO_TOKENS, totalTokens, type TokenUsage } from '../tokens.ts';
import type { Call, Gate } from './gate.ts';
import { affordableOutputTokens, costOf, estimateTokens, quote, type Quote } from './price.ts';

/** Whose request is charged for what. */
export interface TollFacts {
  readonly call: Call;
  readonly holder: KeyHolder;
  readonly model: Model;
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  readonly admission: Admission;
}

/** What a provider delivered, as far as it is known. */
export interface Delivered {
  readonly provider: string;
  readonly usage: TokenUsage | undefined;
  readonly outputCharacters: number;
}

/** Sets aside the worst case of a request before any provider hears of it. */
export async function holdToll(gate: Gate, facts: TollFacts): Promise<Toll> {
  const quoted = quote(facts.model, facts.chat, facts.bodyBytes);
  try {
    const { holder, call } = facts;
    const result = await gate.ledger.hold({
      requestId: call.id,
      accountId: holder.accountId,
      amount: quoted.amount,
      minimum: quoted.minimum,
    });
    if (result.type === 'insufficient_funds') throw insufficientFunds(quoted, result.available);
    return new Toll(gate, facts, affordableLimit(quoted, result.amount));
  } catch (error) {
    facts.admission.release(0);
    throw error;
  }
}

/** The charge of one request: held now, settled exactly once, however the request ends. */
export class Toll {
  /** The output limit that the held amount pays for, where that is less than what the request could use. */
  readonly outputTokensMax: number | undefined;
  readonly #gate: Gate;
  readonly #facts: TollFacts;
  #settling: Promise<TokenUsage> | undefined;

  constructor(gate: Gate, facts: TollFacts, outputTokensMax: number | undefined) {
    this.#gate = gate;
    this.#facts = facts;
    this.outputTokensMax = outputTokensMax;
  }

  /** Charges a finished answer; resolves when the charge is on disk, with the tokens that were charged. */
  complete(delivered: Delivered): Promise<TokenUsage> {
    return this.#settleOnce('completed', delivered.provider, delivered.usage ?? this.#estimate(delivered), delivered.usage === undefined);
  }

  /** The caller left: the output delivered so far is charged, with its input. Nothing delivered, nothing charged. */
  abandon(delivered?: Delivered): Promise<TokenUsage> {
    if (delivered === undefined || delivered.outputCharacters === 0)
      return this.#settleOnce('client_gone', delivered?.provider ?? '', NO_TOKENS, false);
    return this.#settleOnce('client_gone', delivered.provider, delivered.usage ?? this.#estimate(delivered), delivered.usage === undefined);
  }

  /** The answer failed: nothing is charged. */
  fail(provider = ''): Promise<TokenUsage> {
    return this.#settleOnce('failed', provider, NO_TOKENS, false);
  }

  #settleOnce(outcome: Outcome, provider: string, usage: TokenUsage, isEstimated: boolean): Promise<TokenUsage> {
    this.#settling ??= this.#settle(outcome, provider, usage, isEstimated);
    return this.#settling;
  }

  async #settle(outcome: Outcome, provider: string, usage: TokenUsage, isEstimated: boolean): Promise<TokenUsage> {
    const { call, holder, model, admission } = this.#facts;
    admission.release(totalTokens(usage));
    const cost = usage === NO_TOKENS ? NO_MONEY : costOf(model.price, usage);
    const durationMs = Date.now() - call.startedAtMs;
    const settlement = {
      requestId: call.id,
      accountId: holder.accountId,
      keyId: holder.keyId,
      model: model.id,
      provider,
      usage,
      isEstimated,
      cost,
      outcome,
      durationMs,
      createdAtMs: call.startedAtMs,
    };
    await this.#gate.ledger.settle(settlement);
    this.#gate.log.settled(settlement);
    return usage;
  }

  #estimate(delivered: Delivered): TokenUsage {
    const { bodyBytes, chat, model } = this.#facts;
    const outputTokensMax = chat.max_completion_tokens ?? chat.max_tokens ?? this.outputTokensMax ?? model.maxOutputTokens;
    return {
      ...NO_TOKENS,
      inputTokens: Math.min(model.contextLength, estimateTokens(bodyBytes)),
      // The provider was told where to stop, so it cannot have gone further.
      outputTokens: Math.min((chat.n ?? 1) * outputTokensMax, estimateTokens(delivered.outputCharacters)),
    };
  }
}

/** Where the account cannot pay for the model's maximum, the provider is told to stop where the money ends. */
function affordableLimit(quoted: Quote, held: Nanos): number | undefined {
  return quoted.hasCallerLimit || held >= quoted.amount ? undefined : Math.max(1, affordableOutputTokens(quoted, held));
}

function insufficientFunds(quoted: Quote, available: Nanos): GatewayError {
  const tokens = affordableOutputTokens(quoted, available);
  const advice =
    quoted.hasCallerLimit && tokens > 0
      ? `Top up, or lower the output limit: the balance pays for about ${tokens} tokens.`
      : 'Top up the account.';
  return new GatewayError(
    'insufficient_quota',
    `The account balance is insufficient: this request needs $${formatUsd(quoted.minimum)} at least, and $${formatUsd(available > 0n ? available : NO_MONEY)} is available. ${advice}`,
  );
}
