import { errorBody } from '../errors.ts';
import { type OutgoingEvents, OutgoingStream } from '../http/outgoing-stream.ts';
import { DONE, formatEvent, KEEP_ALIVE } from '../http/sse.ts';
import { formatUsd } from '../ledger/money.ts';
import type { WireUsage } from '../openai/types.ts';
import { completeDetails, dropCosts, writeUsage } from '../openai/usage.ts';
import { writeDropped } from './dropped-header.ts';
import { toCallerError } from './faults.ts';
import { finishReasonIn, finishReasonOf } from './finish-reason.ts';
import { CLIENT_GONE, type Call, type Gate, type Reply } from './gate.ts';
import type { RelaySink } from './relay.ts';
import type { Answer, StreamAnswer } from './send.ts';
import type { Charge, Delivered, Toll } from './toll.ts';

/** A slow reader gets this long to take what was sent; then the connection is closed and the request settled. */
const STALLED_READER_SECONDS = 30;
const NANOS_PER_USD = 1e9;

/** A proxy in between must not gather the events. */
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** An answer, its toll, and the headers that go with both. */
interface Outgoing<Kind extends Answer> {
  readonly answer: Kind;
  readonly toll: Toll;
  readonly headers: Record<string, string>;
}

/** Gives the answer to the caller. Its charge is on disk before its end is sent. */
export async function reply(gate: Gate, call: Call, outgoing: Outgoing<Answer>): Promise<Reply> {
  const { answer, toll, headers } = outgoing;
  if (answer.dropped.length > 0) headers['x-tollgate-dropped'] = writeDropped(answer.dropped);
  if (answer.type === 'stream') return streamReply(gate, call, { answer, toll, headers });
  const { body, usage, outputText, carried } = answer.reply;
  if (carried !== undefined) gate.carried.keep(toll.accountId, carried);
  const reported = usage === undefined ? undefined : (body['usage'] as WireUsage);
  // All but the usage is written before the charge: nobody pays for an answer that cannot be written, as one that is nested too deep.
  body['usage'] = undefined;
  const text = JSON.stringify(body);
  const charged = await toll.complete({
    provider: answer.provider,
    servedModel: answer.servedModel,
    finishReason: finishReasonOf(body),
    usage,
    outputText,
    outputLength: outputText.length,
    prompts: answer.prompts,
  });
  headers['content-type'] = 'application/json';
  headers['x-tollgate-cost'] = formatUsd(charged.cost);
  return { body: `${text.slice(0, -1)},"usage":${JSON.stringify(completeUsage(reported, charged))}}`, headers };
}

/** The provider's own report with its details where it is credible, else our count. The three sums and the cost are what is charged. */
function completeUsage(reported: WireUsage | undefined, { usage, cost }: Charge): WireUsage {
  if (reported !== undefined) {
    completeDetails(reported);
    dropCosts(reported);
  }
  // A number of USD has at most nine decimals, few enough for a JSON number to be exact.
  return { ...reported, ...writeUsage(usage), cost: Number(cost) / NANOS_PER_USD };
}

function streamReply(gate: Gate, call: Call, { answer, toll, headers }: Outgoing<StreamAnswer>): Reply {
  const stream = new CallerStream(gate, call, answer, toll);
  const idleSeconds = Math.max(STALLED_READER_SECONDS, (2 * gate.config.timeouts.keepAliveMs) / 1000);
  call.startStreaming(idleSeconds, (nowMs) => stream.onTick(nowMs));
  return { body: stream.body, headers: Object.assign(headers, STREAM_HEADERS) };
}

/**
 * The stream that the caller reads. A slow reader makes the provider wait, so it costs no memory; and the toll is
 * settled exactly once: at the end, at a failure, or when the caller leaves.
 */
class CallerStream implements RelaySink, OutgoingEvents {
  readonly #gate: Gate;
  readonly #call: Call;
  readonly #answer: StreamAnswer;
  readonly #toll: Toll;
  readonly #stream = new OutgoingStream(this);
  #sentAtMs = performance.now();
  #hasSent = false;
  #isEnding = false;
  #finishReason: string | undefined;

  constructor(gate: Gate, call: Call, answer: StreamAnswer, toll: Toll) {
    this.#gate = gate;
    this.#call = call;
    this.#answer = answer;
    this.#toll = toll;
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#stream.body;
  }

  /** The clock has come round: the toll is looked after, and a quiet stream says that it lives. */
  onTick(nowMs: number): void {
    this.#toll.watch(nowMs, this);
    if (this.#toll.isExhausted && !this.#isEnding) this.#cut();
    else this.#keepAlive(nowMs);
  }

  /** Comments must not pile up before a reader that has stopped. */
  #keepAlive(nowMs: number): void {
    if (this.#hasSent) this.#sentAtMs = nowMs;
    this.#hasSent = false;
    if (nowMs - this.#sentAtMs >= this.#gate.config.timeouts.keepAliveMs && !this.#stream.isFull) this.#send(KEEP_ALIVE);
  }

  onStart(): void {
    this.#answer.source.start(this);
    // The runtime keeps back the end of the head until something of the body is there.
    if (!this.#hasSent) this.#send(KEEP_ALIVE);
  }

  onText(text: string, areTokens = false): void {
    if (areTokens) this.#send(text);
    else this.#sendEvents(text);
    if (this.#stream.isFull) this.#answer.source.pause();
  }

  onDrain(): void {
    this.#answer.source.resume();
  }

  onComplete(): void {
    if (!this.#isEnding) void this.#complete();
  }

  onFailure(failure: unknown): void {
    if (!this.#isEnding) void this.#fail(failure);
  }

  /** The caller has left: the provider is told at once, and what was delivered is charged. */
  onCancel(): void {
    this.#call.end(CLIENT_GONE);
    this.#end();
    this.#keepCarried();
    // Nobody is left to be told, so a charge that cannot be written is told to the operator.
    this.#toll.abandon(this.delivered()).catch((error: unknown) => this.#gate.log.internalError('a charge could not be written', error));
  }

  /** The provider goes on beyond what was paid for: the answer ends here, and what was delivered is charged. */
  #cut(): void {
    this.#isEnding = true;
    this.#call.abortAttempt(new Error('The answer is longer than what was paid for'));
    for (const chunk of this.#answer.source.cut()) this.#sendEvents(formatEvent(chunk));
    void this.#complete();
  }

  async #complete(): Promise<void> {
    this.#isEnding = true;
    this.#keepCarried();
    try {
      const charged = await this.#toll.complete(this.delivered());
      this.#send(this.#ending(charged));
      this.#answer.source.finish();
      this.#close();
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Kept before the end is sent: a caller may answer a tool call as soon as it has seen it, and some read no further. */
  #keepCarried(): void {
    const { carried } = this.#answer.source;
    if (carried !== undefined) this.#gate.carried.keep(this.#toll.accountId, carried);
  }

  async #fail(failure: unknown): Promise<void> {
    // The caller has left, so this is no failure. The stream reports that too; the toll is settled by whichever comes first.
    if (this.#call.isClientGone) return this.onCancel();
    const told = toCallerError(failure, { apiKey: this.#answer.apiKey, retryAfter: undefined });
    // Nothing is charged. Should even that not be recorded, the caller still hears why the answer broke off.
    await this.#toll.fail(told, this.#answer).catch(() => undefined);
    this.#gate.log.streamFailed({ requestId: this.#call.id, provider: this.#answer.provider, error: told });
    this.#send(formatEvent(errorBody(told)));
    this.#call.abortAttempt(failure);
    this.#close();
  }

  #sendEvents(text: string): void {
    this.#finishReason ??= finishReasonIn(text);
    this.#send(text);
  }

  #send(text: string): void {
    this.#stream.write(text);
    // The next tick of the clock notes the time, which is exact enough and cheaper than asking for it here.
    this.#hasSent = true;
  }

  #ending(charged: Charge): string {
    const { source, wantsUsage } = this.#answer;
    return wantsUsage ? formatEvent(source.usageChunk(completeUsage(source.tally().wireUsage, charged))) + DONE : DONE;
  }

  delivered(): Delivered {
    const { source, provider, servedModel } = this.#answer;
    const { usage, outputText, outputLength, prompts } = source.tally();
    return { provider, servedModel, finishReason: this.#finishReason, usage, outputText, outputLength, prompts };
  }

  #close(): void {
    this.#end();
    this.#stream.close();
  }

  #end(): void {
    this.#gate.calls.delete(this.#call);
  }
}
