import { errorBody } from '../errors.ts';
import type { Outbox } from '../http/outbox.ts';
import { type OutgoingEvents, OutgoingStream } from '../http/outgoing-stream.ts';
import { DONE, formatEvent, KEEP_ALIVE } from '../http/sse.ts';
import { formatUsd } from '../ledger/money.ts';
import type { WireUsage } from '../openai/types.ts';
import { completeDetails, dropCosts, writeUsage } from '../openai/usage.ts';
import type { Answer, StreamAnswer, StreamSink } from './answer.ts';
import { writeDropped } from './dropped-header.ts';
import { toCallerError } from './faults.ts';
import { finishReasonIn, finishReasonOf } from './finish-reason.ts';
import { CLIENT_GONE, type Call } from './call.ts';
import { closeCall, type Gate, type Reply } from './gate.ts';
import { tallyOf } from './tally.ts';
import type { Charge, Delivered, Toll } from './toll.ts';

const NANOS_PER_USD = 1e9;

/** Keeps proxies from buffering the events. */
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** An answer to send, its toll, and the headers that go with both. */
interface Unsent<Kind extends Answer> {
  readonly answer: Kind;
  readonly toll: Toll;
  readonly headers: Record<string, string>;
}

/** Sends the answer to the client. The charge is on disk before the end of the answer is sent. */
export async function reply(gate: Gate, call: Call, { answer, toll, headers }: Unsent<Answer>): Promise<Reply> {
  if (answer.dropped.length > 0) headers['x-tollgate-dropped'] = writeDropped(answer.dropped);
  if (answer.type === 'stream') return streamReply(gate, call, { answer, toll, headers });
  const { body, usage, carried } = answer.reply;
  if (carried !== undefined) gate.carried.keep(toll.accountId, carried);
  const reported = usage === undefined ? undefined : (body['usage'] as WireUsage);
  // Everything but the usage is serialised before the charge, so that nobody pays for an answer that cannot be serialised,
  // such as one that is nested too deeply.
  body['usage'] = undefined;
  const text = JSON.stringify(body);
  const { provider, servedModel, prompts } = answer;
  const charged = await toll.complete({ provider, servedModel, finishReason: finishReasonOf(body), ...tallyOf(answer.reply, prompts) });
  headers['content-type'] = 'application/json';
  headers['x-tollgate-cost'] = formatUsd(charged.cost);
  return { body: `${text.slice(0, -1)},"usage":${JSON.stringify(completeUsage(reported, charged))}}`, headers };
}

/** Completes the provider's usage report where it is credible, and uses our own count otherwise. All counts with a price are those charged. */
function completeUsage(reported: WireUsage | undefined, { usage, isEstimated, cost }: Charge): WireUsage {
  // An amount in USD has at most nine decimals, few enough for a JSON number to be exact.
  const charged = { ...writeUsage(usage), cost: Number(cost) / NANOS_PER_USD };
  if (reported === undefined || isEstimated) return charged;
  completeDetails(reported, usage);
  dropCosts(reported);
  return { ...reported, ...charged };
}

function streamReply(gate: Gate, call: Call, { answer, toll, headers }: Unsent<StreamAnswer>): Reply {
  const stream = new CallerStream(gate, call, answer, toll);
  call.startStreaming((nowMs) => stream.onTick(nowMs));
  return { body: stream.body, headers: Object.assign(headers, STREAM_HEADERS) };
}

/**
 * The stream that the client reads. A slow client makes the provider wait, so it costs no memory. The toll is settled exactly once:
 * at the end, at a failure, or when the client leaves.
 */
class CallerStream implements StreamSink, OutgoingEvents {
  readonly body = new OutgoingStream(this);
  readonly #gate: Gate;
  readonly #call: Call;
  readonly #answer: StreamAnswer;
  readonly #toll: Toll;
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

  /** Runs at each clock tick: watches the toll, and sends a keep-alive comment on a quiet stream. */
  onTick(nowMs: number): void {
    this.#toll.tick(nowMs, this);
    if (this.#toll.isExhausted && !this.#isEnding) this.#cut();
    else this.#keepAlive(nowMs);
  }

  /** Sends no comments to a client that has stopped reading, so they cannot pile up. */
  #keepAlive(nowMs: number): void {
    if (this.#hasSent) this.#sentAtMs = nowMs;
    this.#hasSent = false;
    if (nowMs - this.#sentAtMs >= this.#gate.config.timeouts.keepAliveMs && !this.body.isFull) this.#send(KEEP_ALIVE);
  }

  onStart(): void {
    this.#answer.source.start(this);
  }

  onText(text: string): void {
    this.#sendEvents(text);
    if (this.body.isFull) this.#answer.source.pause();
  }

  onTokens(out: Outbox): void {
    this.body.writeBytes(out.bytes, 0, out.length);
    this.#hasSent = true;
    if (this.body.isFull) this.#answer.source.pause();
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

  /** Handles a client that has left: ends the exchange at once and charges the output delivered so far. */
  onCancel(): void {
    this.#call.end(CLIENT_GONE);
    closeCall(this.#gate, this.#call);
    this.#keepCarried();
    // No client is left to report to, so a charge that cannot be written is logged for the operator.
    this.#toll.abandon(this.delivered()).catch((error: unknown) => this.#gate.log.internalError('a charge could not be written', error));
  }

  /** Ends an answer that has grown beyond the amount held, and charges the output delivered so far. */
  #cut(): void {
    this.#isEnding = true;
    this.#call.abortExchange(new Error('The answer is longer than the amount held pays for'));
    for (const chunk of this.#answer.source.cut()) this.#sendEvents(formatEvent(chunk));
    void this.#complete();
  }

  async #complete(): Promise<void> {
    this.#isEnding = true;
    this.#keepCarried();
    try {
      const charged = await this.#toll.complete(this.delivered());
      this.#close(this.#closingEvents(charged));
      this.#answer.source.finish();
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Runs before the end is sent: a client may answer a tool call as soon as it sees it, and some clients read no further. */
  #keepCarried(): void {
    const { carried } = this.#answer.source;
    if (carried !== undefined) this.#gate.carried.keep(this.#toll.accountId, carried);
  }

  async #fail(failure: unknown): Promise<void> {
    // The client left, so this is no failure. The stream reports that too; whichever comes first settles the toll.
    if (this.#call.isClientGone) return this.onCancel();
    const callerError = toCallerError(failure, { credentials: this.#answer.credentials, headers: undefined });
    // Nothing is charged. Even if that cannot be recorded, the client still learns why the answer stopped.
    await this.#toll.fail(callerError, this.#answer).catch(() => undefined);
    this.#gate.log.streamFailed({ requestId: this.#call.id, provider: this.#answer.provider, error: callerError });
    this.#close(formatEvent(errorBody(callerError)));
    this.#call.abortExchange(failure);
  }

  #sendEvents(text: string): void {
    this.#finishReason ??= finishReasonIn(text);
    this.#send(text);
  }

  #send(text: string): void {
    this.body.write(text);
    // The next clock tick notes the time. That is precise enough, and cheaper than reading the clock here.
    this.#hasSent = true;
  }

  #closingEvents(charged: Charge): string {
    const { source, wantsUsage } = this.#answer;
    return wantsUsage ? formatEvent(source.usageChunk(completeUsage(source.tally().wireUsage, charged))) + DONE : DONE;
  }

  delivered(): Delivered {
    const { source, provider, servedModel } = this.#answer;
    return { provider, servedModel, finishReason: this.#finishReason, ...source.tally() };
  }

  #close(text: string): void {
    closeCall(this.#gate, this.#call);
    this.body.end(text);
  }
}
