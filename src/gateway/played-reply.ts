import { formatEvent } from '../http/sse.ts';
import { objectOf, objectsOf, type FinishReason, type JsonObject, type WireUsage } from '../openai/types.ts';
import { writeChunk, writeUsageChunk } from '../providers/write-answer.ts';
import type { DecodedReply, ReplyContext } from '../providers/dialect.ts';
import type { StreamSink, StreamSource } from './answer.ts';
import { tallyOf, type Tally } from './tally.ts';

/** A stream made of a whole answer, for a provider that refuses to stream it. All of it is sent when the answer is there. */
export class PlayedReply implements StreamSource {
  readonly continuation = undefined;
  readonly #reply: Promise<DecodedReply>;
  readonly #context: ReplyContext;
  #arrived: DecodedReply | undefined;

  constructor(reply: Promise<DecodedReply>, context: ReplyContext) {
    this.#context = context;
    this.#reply = reply.then((arrived) => (this.#arrived = arrived));
  }

  /**
   * Waits for the answer, so that a failure can be reported by a status, and another provider tried. After `patienceMs` the stream opens
   * anyway: the client then gets comments that keep it waiting.
   */
  async open(patienceMs: number): Promise<void> {
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, patienceMs);
    await Promise.race([this.#reply, patience.promise]).finally(() => clearTimeout(timer));
  }

  start(sink: StreamSink): void {
    if (this.#arrived === undefined)
      this.#reply.then((reply) => this.#play(reply, sink)).catch((failure: unknown) => sink.onFailure(failure));
    else this.#play(this.#arrived, sink);
  }

  /** The provider has nothing to pause or close: its answer is one piece. */
  pause(): void {}
  resume(): void {}
  finish(): void {}

  /** Until the answer is there, no choice is open, and then none is left open. */
  cut(): readonly string[] {
    return [];
  }

  usageChunk(usage: WireUsage): string {
    return writeUsageChunk(this.#context, usage);
  }

  tally(): Tally {
    return tallyOf(this.#arrived ?? { body: {}, usage: undefined, outputText: '' }, 1);
  }

  get carried(): ReadonlyMap<string, string> | undefined {
    return this.#arrived?.carried;
  }

  #play({ body }: DecodedReply, sink: StreamSink): void {
    const chunks = objectsOf(body['choices']).flatMap(({ message, finish_reason: finish }, index) => [
      ...deltasOf(objectOf(message)).map((delta) => writeChunk(this.#context, delta, { index })),
      writeChunk(this.#context, {}, { index, finish: finish as FinishReason }),
    ]);
    sink.onText(chunks.map(formatEvent).join(''));
    sink.onComplete();
  }
}

/** Splits a message into the deltas of a stream: the role, then one field or tool call each. */
function deltasOf({ role, tool_calls: calls, ...fields }: JsonObject): JsonObject[] {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== '');
  return [
    { role, content: '', refusal: null },
    ...given.map(([name, value]) => ({ [name]: value })),
    ...objectsOf(calls).map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ];
}
