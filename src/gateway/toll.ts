import type { KeyHolder } from '../accounts/keys.ts';
import type { Model } from '../catalog/catalog.ts';
import { errorBody, type GatewayError } from '../errors.ts';
import type { Outcome, Settlement } from '../ledger/ledger.ts';
import { NO_MONEY, priceTokens, roundUpToNanos, type Nanos } from '../ledger/money.ts';
import { costOf } from '../ledger/price.ts';
import type { Admission } from '../limits/limits.ts';
import { callerLimitOf, type ChatRequest } from '../openai/types.ts';
import { NO_TOKENS, promptTokens, totalTokens, type TokenUsage } from '../tokens.ts';
import type { ServedBy } from './answer.ts';
import { promptsAtMost } from './choices.ts';
import type { CountedTokens } from './count-tokens-worker.ts';
import { countTokens } from './count-tokens.ts';
import { endUserOf } from './end-user.ts';
import type { Call } from './call.ts';
import type { Gate } from './gate.ts';
import { affordableOutputTokens, estimateTokens, quote, type Quote } from './price.ts';
import type { Tally } from './tally.ts';
import { refusalOf } from './toll-refusal.ts';

/** The request that is charged, and who pays for it. */
export interface TollFacts {
  readonly call: Call;
  readonly holder: KeyHolder;
  readonly model: Model;
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  readonly admission: Admission;
}

/** The part of an answer that a provider has delivered, as far as it is known. */
export interface Delivered extends ServedBy, Tally {
  /** The finish reason of the first choice, as sent to the client. */
  readonly finishReason: string | undefined;
}

/** The amount charged for a request, and the usage it was charged for. */
export interface Charge {
  readonly usage: TokenUsage;
  /** True when the usage is our own count, because the provider reported none that is credible. */
  readonly isEstimated: boolean;
  readonly cost: Nanos;
}

/** Holds the worst-case cost of a request before any provider is called. */
export async function holdToll(gate: Gate, facts: TollFacts): Promise<Toll> {
  const { holder, call, model } = facts;
  const reading = { prompts: promptsAtMost(gate, facts), isUnbounded: gate.overruns.has(holder.accountId) };
  const quoted = quote(model, facts.chat, facts.bodyBytes, reading);
  const priceVersion = gate.priceVersions.get(model.id) ?? 0;
  try {
    const result = await gate.ledger.hold({
      requestId: call.id,
      accountId: holder.accountId,
      keyId: holder.keyId,
      model: model.id,
      priceVersion,
      amount: quoted.amount,
      minimum: quoted.minimum,
      createdAtMs: call.startedAtMs,
    });
    if (result.type === 'budget_exhausted' && result.freeAtMs === undefined)
      gate.keys.noteRefusal(holder.keyId, result.period, call.startedAtMs);
    if (result.type !== 'held') throw refusalOf(quoted, result);
    return new Toll(gate, facts, { quoted, amount: result.amount, priceVersion });
  } catch (error) {
    facts.admission.release(0);
    throw error;
  }
}

interface Held {
  readonly quoted: Quote;
  readonly amount: Nanos;
  readonly priceVersion: number;
}

/** The tokens that are charged for. */
interface Counts {
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
  readonly prompts: number;
}

/** How a request ended, and which provider had answered by then. */
interface Ending extends ServedBy {
  readonly outcome: Outcome;
  readonly errorCode?: string;
  readonly finishReason?: string | undefined;
}

const NO_PROVIDER: ServedBy = { provider: '', servedModel: '' };
const NO_USAGE: Counts = { usage: NO_TOKENS, isEstimated: false, prompts: 1 };

/** A stream that runs longer than this records its cost so far, and repeats that at the same interval. */
const PROGRESS_INTERVAL_MS = 1000;
/** No text averages more characters per token. A stream that exceeds this has passed its output limit. */
const CHARACTERS_PER_TOKEN_MAX = 8;
const EXTENSION_TOKENS = 1024;

/** The charge of one request: held before it is sent, and settled exactly once, however the request ends. */
export class Toll {
  /** The output limit that the held amount pays for, where that is lower than what the request could use. */
  readonly outputTokensMax: number | undefined;
  /** True when the provider has written more than was held and the account cannot pay for more: the answer must end. */
  isExhausted = false;
  readonly #gate: Gate;
  readonly #facts: TollFacts;
  readonly #held: Held;
  /** The amount held so far, including extensions. */
  #heldAmount: Nanos;
  /** The number of output tokens paid for, over all choices. */
  #outputTokensPaid: number;
  #isExtending = false;
  /** The extension requested last. */
  #lastExtension: Promise<boolean> | undefined;
  #firstTokenMs: number | undefined;
  #recordedAtMs = performance.now();
  #settling: Promise<Charge> | undefined;

  constructor(gate: Gate, facts: TollFacts, held: Held) {
    this.#gate = gate;
    this.#facts = facts;
    this.#held = held;
    this.#heldAmount = held.amount;
    this.outputTokensMax = affordableLimit(held.quoted, held.amount);
    const { chat, model } = facts;
    this.#outputTokensPaid = (chat.n ?? 1) * (callerLimitOf(chat) ?? this.outputTokensMax ?? model.maxOutputTokens);
  }

  get accountId(): string {
    return this.#facts.holder.accountId;
  }

  /** Holds the cost of asking for the rest of an answer: the input is read once more, and with it the output so far. */
  async affordRest(outputTokens: number): Promise<boolean> {
    const { inputTokensMax, inputTokenPicos } = this.#held.quoted;
    return this.#holdMore(roundUpToNanos(priceTokens(inputTokensMax + outputTokens, inputTokenPicos)));
  }

  /** Notes the time of the first token. */
  noteFirstToken(): void {
    this.#firstTokenMs = this.#facts.call.durationMs;
  }

  /** Runs at each clock tick of a stream. Once a second it records the cost so far. `nowMs` is `performance.now()`. */
  tick(nowMs: number, stream: { delivered(): Delivered }): void {
    if (nowMs - this.#recordedAtMs < PROGRESS_INTERVAL_MS || this.#settling !== undefined) return;
    this.#recordedAtMs = nowMs;
    const delivered = stream.delivered();
    const { call, holder, model } = this.#facts;
    const usage = this.#estimate(delivered);
    // Priced as one prompt, because recovery knows nothing of separate exchanges and must find the same cost.
    const cost = costOf(model.price, usage);
    this.#gate.ledger.progress({
      requestId: call.id,
      accountId: holder.accountId,
      provider: delivered.provider,
      usage,
      cost: cost < this.#heldAmount ? cost : this.#heldAmount,
    });
    if (delivered.outputLength / CHARACTERS_PER_TOKEN_MAX > this.#outputTokensPaid) void this.#extend();
  }

  /** Charges a finished answer. Resolves when the charge is on disk. */
  complete(delivered: Delivered): Promise<Charge> {
    return this.#settleDelivered('completed', delivered);
  }

  /** Settles a request whose client left: charges the output delivered so far, with its input. Without output, nothing is charged. */
  async abandon(delivered?: Delivered): Promise<Charge> {
    if (delivered === undefined || delivered.outputLength === 0)
      return this.#settleOnce(endingOf('client_gone', delivered ?? NO_PROVIDER), NO_USAGE);
    return this.#settleDelivered('client_gone', delivered);
  }

  /** Settles a request whose answer failed. Nothing is charged. */
  fail(error: GatewayError, servedBy: ServedBy = NO_PROVIDER): Promise<Charge> {
    this.#record(errorBody(error));
    return this.#settleOnce({ ...endingOf('failed', servedBy), errorCode: error.errorName }, NO_USAGE);
  }

  #settleDelivered(outcome: Outcome, delivered: Delivered): Promise<Charge> {
    const { usage, prompts } = delivered;
    const ending = { ...endingOf(outcome, delivered), finishReason: delivered.finishReason };
    this.#record(delivered.outputText);
    const isFinal = outcome === 'completed' && !this.isExhausted && !delivered.isUsageOutdated;
    if (usage !== undefined && this.#isCredible(usage, prompts) && (isFinal || countsAll(usage, delivered)))
      return this.#settleOnce(ending, { usage, isEstimated: false, prompts });
    return this.#settleCounted(ending, delivered);
  }

  /** Charges for our own count. */
  #settleCounted(ending: Ending, delivered: Delivered): Promise<Charge> {
    const estimate = { usage: this.#estimate(delivered), isEstimated: true, prompts: delivered.prompts };
    return this.#settleOnce(ending, estimate, async () => this.#count(delivered, estimate));
  }

  /** Records the prompt and the answer, for accounts that have recording turned on. The first record of a request stays. */
  #record(answer: string): void {
    const { holder, call, chat } = this.#facts;
    if (holder.contentDays === undefined) return;
    this.#gate.contents.record({ requestId: call.id, accountId: holder.accountId, request: chat, answer, days: holder.contentDays });
  }

  /**
   * Settles the request with its first ending; later ones are ignored. The request stops counting as open at once, because our own
   * token count may take a while.
   */
  #settleOnce(ending: Ending, counts: Counts, recount?: () => Promise<Counts>): Promise<Charge> {
    if (this.#settling === undefined) {
      this.#facts.admission.release(totalTokens(counts.usage));
      this.#settling = recount === undefined ? this.#settle(ending, counts) : this.#settleLater(ending, recount());
    }
    return this.#settling;
  }

  async #settleLater(ending: Ending, recounting: Promise<Counts>): Promise<Charge> {
    return this.#settle(ending, await recounting);
  }

  /** Counts the tokens of the answer. Falls back to the estimate, because a charge must not depend on the count. */
  async #count(delivered: Delivered, estimate: Counts): Promise<Counts> {
    const counted = await this.#tryToCount(delivered.outputText);
    if (counted === undefined) return estimate;
    // Of a very long answer only the beginning was kept. The rest is assumed to have the same number of characters per token.
    const share = delivered.outputLength / Math.max(1, delivered.outputText.length);
    return { ...estimate, usage: this.#capped(counted.inputTokens, Math.ceil(counted.outputTokens * share), estimate.prompts) };
  }

  async #tryToCount(outputText: string): Promise<CountedTokens | undefined> {
    try {
      return await countTokens(this.#facts.chat, outputText);
    } catch (error) {
      this.#gate.log.internalError('tokens could not be counted', error);
      return undefined;
    }
  }

  async #settle(ending: Ending, { usage, isEstimated, prompts }: Counts): Promise<Charge> {
    const { call, holder, model, chat } = this.#facts;
    const cost = usage === NO_TOKENS ? NO_MONEY : costOf(model.price, usage, prompts);
    const { failedAttempts } = call;
    const settlement: Settlement = {
      requestId: call.id,
      accountId: holder.accountId,
      keyId: holder.keyId,
      model: model.id,
      provider: ending.provider,
      servedModel: ending.servedModel,
      usage,
      isEstimated,
      priceVersion: this.#held.priceVersion,
      cost,
      outcome: ending.outcome,
      errorCode: ending.errorCode,
      finishReason: ending.finishReason,
      endUser: endUserOf(chat),
      isStreaming: chat.stream === true,
      firstTokenMs: this.#firstTokenMs,
      durationMs: call.durationMs,
      createdAtMs: call.startedAtMs,
      attempts: failedAttempts.length + (ending.provider === '' ? 0 : prompts),
      failedAttempts,
      isDelivered: call.isStreaming,
    };
    const { hasMedia, inputTokensMax } = this.#held.quoted;
    // Before the charge is written, so that the next request already finds it. Text alone is over its bound only where the provider adds to it.
    if (hasMedia && promptTokens(usage) > prompts * inputTokensMax) this.#gate.overruns.note(holder.accountId);
    const result = await this.#gate.ledger.settle(settlement);
    const facts = { isOverrun: cost > this.#heldAmount, isResolvedBefore: result === 'resolved_before' };
    this.#gate.log.settled(settlement, facts);
    this.#gate.metrics.settled(settlement, facts);
    return { usage, isEstimated, cost };
  }

  /** Whether the reported usage is possible: within the context of the model and within the output limit that the provider was given. */
  #isCredible(usage: TokenUsage, prompts: number): boolean {
    const { model, chat } = this.#facts;
    const visibleTokens = usage.outputTokens - usage.reasoningTokens;
    return (
      promptTokens(usage) <= prompts * model.contextLength &&
      visibleTokens <= this.#outputTokensPaid &&
      usage.outputTokens <= Math.max(this.#outputTokensPaid, (chat.n ?? 1) * model.maxOutputTokens)
    );
  }

  /**
   * Handles a provider that has passed its output limit. A limit set by the client is final. Our own limit marks where the money
   * was expected to end, so more is held if the account can pay.
   */
  async #extend(): Promise<void> {
    if (this.#isExtending || this.isExhausted) return;
    const { quoted } = this.#held;
    this.#isExtending = true;
    // Exactly zero for free output, which needs no money.
    const amount = roundUpToNanos(priceTokens(EXTENSION_TOKENS, quoted.outputTokenPicos));
    const isExtended = !quoted.hasCallerLimit && (await this.#holdMore(amount));
    this.#isExtending = false;
    if (isExtended) this.#outputTokensPaid += EXTENSION_TOKENS * (this.#facts.chat.n ?? 1);
    else this.isExhausted = true;
  }

  /** Holds more money. Extensions run one at a time: each names the new total, which depends on the previous one. */
  #holdMore(amount: Nanos): Promise<boolean> {
    this.#lastExtension =
      this.#lastExtension === undefined ? this.#extendHold(amount) : this.#lastExtension.then(() => this.#extendHold(amount));
    return this.#lastExtension;
  }

  /** Extends the hold by the amount. If the ledger cannot be reached, nothing more is held. */
  async #extendHold(amount: Nanos): Promise<boolean> {
    const { call, holder } = this.#facts;
    const total = (this.#heldAmount + amount) as Nanos;
    const extension = { requestId: call.id, accountId: holder.accountId, keyId: holder.keyId, total };
    const isHeld = amount === NO_MONEY || (await this.#gate.ledger.extend(extension).catch(() => false));
    if (isHeld) this.#heldAmount = total;
    return isHeld;
  }

  #estimate(delivered: Delivered): TokenUsage {
    return this.#capped(estimateTokens(this.#facts.bodyBytes), estimateTokens(delivered.outputLength), delivered.prompts);
  }

  /** Returns our own token count, capped at the amounts that were held. */
  #capped(inputTokens: number, outputTokens: number, prompts: number): TokenUsage {
    return {
      ...NO_TOKENS,
      inputTokens: prompts * Math.min(inputTokens, this.#held.quoted.inputTokensMax),
      outputTokens: Math.min(outputTokens, this.#outputTokensPaid),
    };
  }
}

function endingOf(outcome: Outcome, { provider, servedModel }: ServedBy): Ending {
  return { outcome, provider, servedModel };
}

/**
 * Whether the reported usage covers all of the delivered output. Some providers report at the start of a stream and then only at its
 * end, so when a client leaves in between, or the connection breaks, the report misses the output in between.
 */
function countsAll({ outputTokens }: TokenUsage, { outputLength }: Delivered): boolean {
  return outputTokens * CHARACTERS_PER_TOKEN_MAX >= outputLength;
}

/** Returns the output limit to send when the account cannot pay for the model's maximum, so the provider stops where the money ends. */
function affordableLimit(quoted: Quote, held: Nanos): number | undefined {
  return quoted.hasCallerLimit || held >= quoted.amount ? undefined : Math.max(1, affordableOutputTokens(quoted, held));
}
