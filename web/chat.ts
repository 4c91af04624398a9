import { createParser } from 'eventsource-parser';
import { faults } from './strings/index.ts';

/** One message of a conversation. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Body of a chat completion request. Other properties are sampling parameters. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly [parameter: string]: unknown;
}

/** Usage and cost as the response reports them. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Dollars, with at most nine decimals. */
  readonly cost: number | undefined;
}

/** A finished answer, complete or not. */
export interface ChatAnswer {
  /** Undefined if no response arrived. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly text: string;
  readonly finishReason: string | undefined;
  readonly usage: ChatUsage | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
  /** The user stopped the answer. The part received so far is charged; the amount is known only to the ledger. */
  readonly isStopped: boolean;
}

interface ChatCall {
  readonly secret: string;
  readonly body: ChatBody;
  readonly signal: AbortSignal;
  /** Called with each piece of text as it streams in. */
  readonly onText?: (piece: string) => void;
}

/** Calls `/v1/chat/completions` from this page, as any client would. Streams if `onText` is given. */
export async function sendChat({ secret, body, signal, onText }: ChatCall): Promise<ChatAnswer> {
  const startedAtMs = performance.now();
  const streaming = onText === undefined ? {} : { stream: true, stream_options: { include_usage: true } };
  const collected = new AnswerCollector();
  let response: Response | undefined;
  try {
    response = await fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...streaming }),
      credentials: 'omit',
      signal,
    });
    if (response.ok && onText !== undefined && response.body !== null) await readStream(response.body, collected, onText);
    else collected.add(readRecord(await response.json()));
  } catch (error) {
    if (!isStopped(signal)) collected.fail(describeFailure(error, response));
  }
  return {
    ...collected.result(),
    status: response?.status,
    requestId: response?.headers.get('x-request-id') ?? undefined,
    durationMs: performance.now() - startedAtMs,
    isStopped: isStopped(signal),
  };
}

/** True if the user stopped the call, false if it timed out. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted && (signal.reason as Error).name === 'AbortError';
}

/** Describes a failure in our own words: browser messages do not say what to do. */
function describeFailure(error: unknown, response: Response | undefined): string {
  if (response === undefined) return faults.unreachable;
  return error instanceof SyntaxError && !response.ok ? faults.status(response.status) : faults.brokenOff;
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  collected: AnswerCollector,
  onText: (piece: string) => void,
): Promise<void> {
  let isComplete = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      isComplete ||= data === '[DONE]';
      if (isComplete) return;
      const piece = collected.add(readRecord(JSON.parse(data)));
      if (piece !== '') onText(piece);
    },
  });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parser.feed(value);
  }
  if (!isComplete) collected.fail(faults.brokenOff);
}

type Fields = Readonly<Record<string, unknown>>;

/** Collects an answer from its chunks. A response that is not streamed counts as a single chunk. */
class AnswerCollector {
  #text = '';
  #finishReason: string | undefined;
  #usage: ChatUsage | undefined;
  #error: string | undefined;

  /** Adds a chunk and returns its text. */
  add(chunk: Fields): string {
    const [first] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choice = readRecord(first);
    const content = readRecord(choice['delta'] ?? choice['message'])['content'];
    const piece = typeof content === 'string' ? content : '';
    this.#text += piece;
    this.#finishReason = readText(choice['finish_reason']) ?? this.#finishReason;
    if (chunk['usage'] !== undefined && chunk['usage'] !== null) this.#usage = readUsage(readRecord(chunk['usage']));
    this.#error = readText(readRecord(chunk['error'])['message']) ?? this.#error;
    return piece;
  }

  fail(message: string): void {
    this.#error ??= message;
  }

  result(): Pick<ChatAnswer, 'text' | 'finishReason' | 'usage' | 'error'> {
    return { text: this.#text, finishReason: this.#finishReason, usage: this.#usage, error: this.#error };
  }
}

function readUsage(usage: Fields): ChatUsage {
  return {
    inputTokens: readCount(usage['prompt_tokens']),
    cachedTokens: readCount(readRecord(usage['prompt_tokens_details'])['cached_tokens']),
    outputTokens: readCount(usage['completion_tokens']),
    cost: typeof usage['cost'] === 'number' ? usage['cost'] : undefined,
  };
}

function readCount(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function readRecord(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
