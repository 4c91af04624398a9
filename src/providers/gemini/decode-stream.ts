import type { SseEvent } from '../../http/sse.ts';
import { isObject, type FinishReason, type JsonObject, type WireUsage } from '../../openai/types.ts';
import type { TokenUsage } from '../../tokens.ts';
import { writeChunk, writeCitedChunk, writeUsageChunk } from '../write-answer.ts';
import { ProviderFault, type ReplyContext, type StreamDecoder } from '../dialect.ts';
import { measureEarlier, writeContinuation } from './continuation.ts';
import { readCandidates, type Candidate, type Piece } from './decode-candidate.ts';
import { readCitations, writeAnnotations } from './decode-citations.ts';
import { parseAnswer } from './decode-fault.ts';
import { continuationTokenOf, decodeFinish } from './decode-finish.ts';
import { readOutput, writeImage } from './decode-reply.ts';
import { decodeUsage } from './decode-usage.ts';
import type { Service } from './draft.ts';
import { PartialCalls } from './partial-calls.ts';
import { ToolCallWriter } from './tool-call-writer.ts';

/** The most image data of one answer, since images are held until its end. Equals the limit for a complete answer. */
const IMAGE_CHARACTERS_MAX = 64_000_000;

/** What has been sent of one choice. */
interface Choice {
  toolCalls: number;
  hasOutput: boolean;
  hasAnswer: boolean;
  isFinished: boolean;
  sentFinish: FinishReason | undefined;
  /** The text so far (citations refer to positions in it), the search metadata, the citations seen, and those not sent yet. */
  content: string;
  grounding: JsonObject;
  readonly cited: Set<string>;
  annotations: readonly JsonObject[];
  /** Sent at the end, in one list like the citations. */
  images: readonly JsonObject[];
}

/** Turns Google's events, each a small answer of its own, into chunks. */
export class GeminiStream implements StreamDecoder {
  wireUsage: WireUsage | undefined;
  usage: TokenUsage | undefined;
  outputText = '';
  continuation: string | undefined;
  /** Never true: only the end of the stream marks the end, because counts may follow the finish reason. */
  readonly isDone = false;
  readonly #context: ReplyContext;
  readonly #calls: ToolCallWriter;
  /** The length of the text sent before this stream. */
  readonly #textLength: number;
  readonly #choices = new Map<number, Choice>();
  readonly #partial = new Map<number, PartialCalls>();
  #imageCharacters = 0;

  constructor(context: ReplyContext, service: Service) {
    this.#context = context;
    this.#calls = new ToolCallWriter(context, service);
    this.#textLength = measureEarlier(context).textLength;
    // A continued answer already has an open choice.
    if (context.continuation !== undefined) this.#startChoice(0);
  }

  get carried(): ReadonlyMap<string, string> {
    return this.#calls.carried;
  }

  get hasOutput(): boolean {
    return this.isComplete || [...this.#choices.values()].some((choice) => choice.hasOutput);
  }

  get isComplete(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every((choice) => choice.isFinished);
  }

  push(event: SseEvent): readonly string[] {
    const body = parseAnswer(event.data);
    this.#readUsage(body['usageMetadata']);
    const candidates = readCandidates(body, (index, parts, isEnd) => this.#join(index, parts, isEnd));
    return candidates.flatMap((candidate) => this.#writeCandidate(candidate, body['responseId']));
  }

  #join(index: number, parts: readonly JsonObject[], isEnd: boolean): readonly JsonObject[] {
    let partial = this.#partial.get(index);
    if (partial === undefined) {
      partial = new PartialCalls();
      this.#partial.set(index, partial);
    }
    return partial.join(parts, isEnd);
  }

  cut(): readonly string[] {
    // A choice that broke off has ended without sending a finish reason.
    const open = [...this.#choices].filter(([, choice]) => choice.sentFinish === undefined);
    return open.flatMap(([index, choice]) => [
      ...this.#writeImages(index, choice),
      ...this.#writeCited(index, choice),
      writeChunk(this.#context, {}, { index, finish: 'length' }),
    ]);
  }

  usageChunk(usage: WireUsage): string {
    return writeUsageChunk(this.#context, usage);
  }

  /** Counts come with every event and grow. The last ones are the totals. */
  #readUsage(value: unknown): void {
    if (value === undefined) return;
    const reported = decodeUsage(value);
    this.usage = reported?.usage;
    this.wireUsage = reported?.wireUsage;
  }

  #writeCandidate(candidate: Candidate, responseId: unknown): string[] {
    const { index, pieces } = candidate;
    const known = this.#choices.get(index);
    const choice = known ?? this.#startChoice(index);
    const isFirst = known === undefined && this.#context.continuation === undefined;
    const chunks = isFirst ? [writeChunk(this.#context, { role: 'assistant', content: '' }, { index })] : [];
    const deltas = pieces.flatMap((piece) => this.#writeDeltas(piece, choice, responseId));
    // Log probabilities go with the text they belong to.
    const { logprobs } = candidate;
    if (logprobs !== undefined && deltas.length === 0) deltas.push({});
    deltas.forEach((delta, place) =>
      chunks.push(writeChunk(this.#context, delta, { index, logprobs: place === deltas.length - 1 ? logprobs : undefined })),
    );
    choice.annotations = [...choice.annotations, ...cite(candidate, choice, this.#textLength)];
    const end = this.#finish(candidate, choice);
    if (choice.isFinished) chunks.push(...this.#writeImages(index, choice));
    if (choice.isFinished && this.continuation === undefined) chunks.push(...this.#writeCited(index, choice));
    return [...chunks, ...end];
  }

  #writeImages(index: number, choice: Choice): readonly string[] {
    const { images } = choice;
    choice.images = [];
    return images.length === 0 ? [] : [writeChunk(this.#context, { images }, { index })];
  }

  #writeCited(index: number, choice: Choice): readonly string[] {
    const { annotations } = choice;
    choice.annotations = [];
    return writeCitedChunk(this.#context, annotations, index);
  }

  /** Starts a choice. When an answer is continued, the first choice already has output. */
  #startChoice(index: number): Choice {
    const isContinued = this.#context.continuation !== undefined;
    const choice = {
      toolCalls: isContinued ? this.#calls.count : 0,
      hasOutput: isContinued,
      hasAnswer: isContinued,
      isFinished: false,
      sentFinish: undefined,
      content: '',
      grounding: {},
      cited: new Set<string>(),
      annotations: (index === 0 ? measureEarlier(this.#context).annotations : undefined) ?? [],
      images: [],
    };
    this.#choices.set(index, choice);
    return choice;
  }

  #writeDeltas(piece: Piece, choice: Choice, responseId: unknown): JsonObject[] {
    this.outputText += readOutput(piece);
    choice.hasOutput = true;
    choice.hasAnswer ||= piece.type !== 'reasoning';
    switch (piece.type) {
      case 'text':
        choice.content += piece.text;
        return [{ content: piece.text }];
      case 'reasoning':
        return [{ reasoning_content: piece.text }];
      case 'image':
        this.#imageCharacters += piece.url.length;
        if (this.#imageCharacters > IMAGE_CHARACTERS_MAX) throw new ProviderFault('The images in the answer are too large');
        choice.images = [...choice.images, writeImage(piece.url)];
        return [];
      case 'call': {
        // A call arrives whole and is sent as one delta.
        const call = { index: choice.toolCalls, ...this.#calls.write(piece, responseId) };
        choice.toolCalls += 1;
        return [{ tool_calls: [call] }];
      }
    }
  }

  /** Some models repeat the finish reason on every event. It is sent once, and again only if it changes. */
  #finish(candidate: Candidate, choice: Choice): string[] {
    const { index, reason } = candidate;
    if (reason === undefined) return [];
    const finish = decodeFinish(reason, candidate, { hasAnswer: choice.hasAnswer, hasToolCalls: choice.toolCalls > 0 });
    choice.isFinished = true;
    const token = index === 0 ? continuationTokenOf(candidate) : undefined;
    if (token !== undefined) {
      // The rest comes with another answer, which then has the finish reason.
      const { toolCalls, annotations } = choice;
      const textLength = this.#textLength + choice.content.length;
      this.continuation = writeContinuation({ token, toolCalls, textLength, ...(annotations.length === 0 ? {} : { annotations }) });
      return [];
    }
    if (choice.sentFinish === finish) return [];
    choice.sentFinish = finish;
    return [writeChunk(this.#context, {}, { index, finish })];
  }
}

/** Returns the citations of an event that are new. Search metadata arrives in parts, and parts repeat. */
function cite({ raw, reason }: Candidate, choice: Choice, earlier: number): readonly JsonObject[] {
  const { groundingMetadata: grounding, citationMetadata } = raw;
  if (isObject(grounding)) choice.grounding = { ...choice.grounding, ...grounding };
  const citations = readCitations({ groundingMetadata: choice.grounding, citationMetadata }, reason !== undefined);
  return writeAnnotations(citations, choice.content, earlier).filter((annotation) => {
    const key = JSON.stringify(annotation);
    if (choice.cited.has(key)) return false;
    choice.cited.add(key);
    return true;
  });
}
