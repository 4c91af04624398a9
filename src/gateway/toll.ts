import type { KeyHolder } from '../accounts/keys.ts';
import type { Model } from '../catalog/catalog.ts';
import { errorBody, type GatewayError } from '../errors.ts';
import type { Outcome, Settlement } from '../ledger/ledger.ts';
import { NO_MONEY, priceTokens, roundUpToNanos, type Nanos } from '../ledger/money.ts';
import { costOf } from '../ledger/price.ts';
import type { Admission } from '../limits/limits.ts';
import type { ChatRequest } from '../openai/types.ts';
import { NO_TOKENS, promptTokens, totalTokens, type TokenUsage } from '../tokens.ts';
import { promptsAtMost } from './choices.ts';
import type { CountedTokens } from './count-tokens-worker.ts';
import { countTokens } from './count-tokens.ts';
import { endUserOf } from './end-user.ts';
import type { Call, Gate } from './gate.ts';
import { affordableOutputTokens, callerLimitOf, estimateTokens, quote, type Quote } from './price.ts';
import { refusalOf } from './toll-refusal.ts';

/** Whose request is charged for what. */
export interface TollFacts {
  readonly call: Call;
  readonly holder: KeyHolder;
  readonly model: Model;
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  readonly admission: Admission;
}

/** Who answered, and what the model is called there. */
export interface Answerer {
  readonly provider: string;
  readonly servedModel: string;
}

/** What a provider delivered, as far as it is known. */
export interface Delivered extends Answerer {
  /** Of the first choice, as it was sent to the caller. */
  readonly finishReason: string | undefined;
  readonly usage: TokenUsage | undefined;
  /** Everything that the model said, for our own count where the provider's is missing. */
  readonly outputText: string;
  /** How long that is: of a very long answer only the beginning is kept. */
  readonly outputLength: number;
  /** How often the input was read: once for every exchange that the answer was made of. */
  readonly prompts: number;
}

/** What a request was charged. */
export interface Charge {
  readonly usage: TokenUsage;
  readonly cost: Nanos;
}

/** Sets aside the worst case of a request before any provider hears of it. */
export async function holdToll(gate: Gate, facts: TollFacts): Promise<Toll> {
  const { holder, call, model } = facts;
  const quoted = quote(model, facts.chat, facts.bodyBytes, promptsAtMost(gate, facts));
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

/** What is charged for. */
interface Counts {
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
  readonly prompts: number;
}

/** How a request ended, and who had answered it by then. */
interface Ending extends Answerer {
  readonly outcome: Outcome;
  readonly errorCode?: string;
  readonly finishReason?: string | undefined;
}

const NOBODY: Answerer = { provider: '', servedModel: '' };
const UNUSED: Counts = { usage: NO_TOKENS, isEstimated: false, prompts: 1 };

/** A stream older than this records what it has cost so far, and does so again as often. */
const PROGRESS_INTERVAL_MS = 1000;
/** No text has more characters to a token on average; a stream that does has passed its limit. */
const CHARACTERS_PER_TOKEN_MAX = 8;
const EXTENSION_TOKENS = 1024;

/** The charge of one request: held now, settled exactly once, however the request ends. */
export class Toll {
  /** The output limit that the held amount pays for, where that is less than what the request could use. */
  readonly outputTokensMax: number | undefined;
  /** True when the provider went on beyond what was held and there is no money for more: the answer must end. */
  isExhausted = false;
  readonly #gate: Gate;
  readonly #facts: TollFacts;
  readonly #held: Held;
  /** What is held by now: more than at first where it was extended. */
  #heldAmount: Nanos;
  /** How many tokens of output are paid for, over all choices. */
  #outputTokensPaid: number;
  #isExtending = false;
  /** The extension asked for last. */
  #growing: Promise<boolean> | undefined;
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

  /** Sets aside what it costs to ask for the rest of an answer: the input is read once more, and with it what was said so far. */
  async affordRest(outputTokens: number): Promise<boolean> {
    const { inputTokensMax, inputTokenPicos } = this.#held.quoted;
    return this.#holdMore(roundUpToNanos(priceTokens(inputTokensMax + outputTokens, inputTokenPicos)));
  }

  /** The first token of a stream is here. */
  begin(): void {
    this.#firstTokenMs = this.#facts.call.durationMs;
  }

  /** Looks after a running stream, once a second: `nowMs` is `performance.now()`. */
  watch(nowMs: number, stream: { delivered(): Delivered }): void {
    if (nowMs - this.#recordedAtMs < PROGRESS_INTERVAL_MS || this.#settling !== undefined) return;
    this.#recordedAtMs = nowMs;
    const delivered = stream.delivered();
    const { call, holder, model } = this.#facts;
    const usage = this.#estimate(delivered);
    // Priced as one prompt, as recovery will find it: it knows nothing of exchanges.
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

  /** Charges a finished answer; resolves when the charge is on disk. */
  complete(delivered: Delivered): Promise<Charge> {
    return this.#settleDelivered('completed', delivered);
  }

  /** The caller left: the output delivered so far is charged, with its input. Nothing delivered, nothing charged. */
  async abandon(delivered?: Delivered): Promise<Charge> {
    if (delivered === undefined || delivered.outputLength === 0)
      return this.#settleOnce(endingOf('client_gone', delivered ?? NOBODY), UNUSED);
    return this.#settleDelivered('client_gone', delivered);
  }

  /** The answer failed: nothing is charged. */
  fail(error: GatewayError, answerer: Answerer = NOBODY): Promise<Charge> {
    this.#record(errorBody(error));
    return this.#settleOnce({ ...endingOf('failed', answerer), errorCode: error.errorName }, UNUSED);
  }

  #settleDelivered(outcome: Outcome, delivered: Delivered): Promise<Charge> {
    const { usage, prompts } = delivered;
    const ending = { ...endingOf(outcome, delivered), finishReason: delivered.finishReason };
    this.#record(delivered.outputText);
    const isAtEnd = outcome === 'completed' && !this.isExhausted;
    if (usage !== undefined && this.#isCredible(usage, prompts) && (isAtEnd || countsAll(usage, delivered)))
      return this.#settleOnce(ending, { usage, isEstimated: false, prompts });
    const guess = { usage: this.#estimate(delivered), isEstimated: true, prompts };
    return this.#settleOnce(ending, guess, async () => this.#count(delivered, guess));
  }

  /** Only for accounts that switched it on. What is recorded first of a request stays. */
  #record(answer: string): void {
    const { holder, call, chat } = this.#facts;
    if (holder.contentDays === undefined) return;
    this.#gate.contents.record({ requestId: call.id, accountId: holder.accountId, request: chat, answer, days: holder.contentDays });
  }

  /** The first ending counts. The request no longer counts as open from then on, for our own count of its tokens may take a while. */
  #settleOnce(ending: Ending, counts: Counts, recount?: () => Promise<Counts>): Promise<Charge> {
    if (this.#settling === undefined) {
      this.#facts.admission.release(totalTokens(counts.usage));
      this.#settling =
        recount === undefined ? this.#settle(ending, counts) : recount().then((recounted) => this.#settle(ending, recounted));
    }
    return this.#settling;
  }

  /** A guess will do where it cannot be counted: a charge must not depend on it. */
  async #count(delivered: Delivered, guess: Counts): Promise<Counts> {
    const counted = await this.#tryToCount(delivered.outputText);
    if (counted === undefined) return guess;
    // Of a very long answer only the beginning was kept; the rest has as many tokens to a character.
    const share = delivered.outputLength / Math.max(1, delivered.outputText.length);
    return { ...guess, usage: this.#bound(counted.inputTokens, Math.ceil(counted.outputTokens * share), guess.prompts) };
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
    const result = await this.#gate.ledger.settle(settlement);
    const facts = { isOverrun: cost > this.#heldAmount, isResolvedBefore: result === 'resolved_before' };
    this.#gate.log.settled(settlement, facts);
    this.#gate.metrics.settled(settlement, facts);
    return { usage, cost };
  }

  /** A provider was told where to stop and cannot have read more than the model can: a report beyond that is a mistake. */
  #isCredible(usage: TokenUsage, prompts: number): boolean {
    const { model, chat } = this.#facts;
    const visibleTokens = usage.outputTokens - usage.reasoningTokens;
    return (
      promptTokens(usage) <= prompts * model.contextLength &&
      visibleTokens <= this.#outputTokensPaid &&
      usage.outputTokens <= Math.max(this.#outputTokensPaid, (chat.n ?? 1) * model.maxOutputTokens)
    );
  }

  /** The provider went beyond the limit it was given. A caller's own limit is the end; ours is only where the money was thought to end. */
  async #extend(): Promise<void> {
    if (this.#isExtending || this.isExhausted) return;
    const { quoted } = this.#held;
    this.#isExtending = true;
    const amount = ((BigInt(EXTENSION_TOKENS) * quoted.outputTokenPicos) / 1000n + 1n) as Nanos;
    const isExtended = !quoted.hasCallerLimit && (await this.#holdMore(amount));
    this.#isExtending = false;
    if (isExtended) this.#outputTokensPaid += EXTENSION_TOKENS * (this.#facts.chat.n ?? 1);
    else this.isExhausted = true;
  }

  /** One extension at a time: each names the new total, which depends on the one before. */
  #holdMore(amount: Nanos): Promise<boolean> {
    this.#growing = this.#growing === undefined ? this.#grow(amount) : this.#growing.then(() => this.#grow(amount));
    return this.#growing;
  }

  /** Where the ledger cannot be reached, nothing more is held. */
  async #grow(amount: Nanos): Promise<boolean> {
    const { call, holder } = this.#facts;
    const total = (this.#heldAmount + amount) as Nanos;
    const extension = { requestId: call.id, accountId: holder.accountId, keyId: holder.keyId, total };
    const isHeld = amount === NO_MONEY || (await this.#gate.ledger.extend(extension).catch(() => false));
    if (isHeld) this.#heldAmount = total;
    return isHeld;
  }

  #estimate(delivered: Delivered): TokenUsage {
    return this.#bound(estimateTokens(this.#facts.bodyBytes), estimateTokens(delivered.outputLength), delivered.prompts);
  }

  /** Our own count, at most what the hold was made for. */
  #bound(inputTokens: number, outputTokens: number, prompts: number): TokenUsage {
    return {
      ...NO_TOKENS,
      inputTokens: prompts * Math.min(inputTokens, this.#held.quoted.inputTokensMax),
      outputTokens: Math.min(outputTokens, this.#outputTokensPaid),
    };
  }
}

function endingOf(outcome: Outcome, { provider, servedModel }: Answerer): Ending {
  return { outcome, provider, servedModel };
}

/** Some providers count at the beginning of a stream and then at its end: what was said in between, until somebody left, is in no report. */
function countsAll({ outputTokens }: TokenUsage, { outputLength }: Delivered): boolean {
  return outputTokens * CHARACTERS_PER_TOKEN_MAX >= outputLength;
}

/** Where the account cannot pay for the model's maximum, the provider is told to stop where the money ends. */
function affordableLimit(quoted: Quote, held: Nanos): number | undefined {
  return quoted.hasCallerLimit || held >= quoted.amount ? undefined : Math.max(1, affordableOutputTokens(quoted, held));
}
