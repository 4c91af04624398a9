import OpenAI from 'openai';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { complaintsAbout, complaintsAboutStream } from './client-types.ts';

/** The result of one call of the official client. */
export interface Outcome {
  readonly requestId: string;
  readonly model: string | undefined;
  readonly choices: readonly SaidChoice[];
  readonly usage: ReportedUsage | undefined;
  /** The differences from the client's types. */
  readonly complaints: readonly string[];
  /** The failure of the call, before the answer or in the middle of it. */
  readonly failure: unknown;
}

/** One choice, whole or assembled from its chunks. A missing text counts as empty, because streams cannot tell the two apart. */
export interface SaidChoice {
  readonly content: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish: string;
}

/** The counts that matter. Details that were not reported count as zero. */
export interface ReportedUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number;
  readonly cached: number;
  readonly written: number;
  readonly reasoning: number;
  readonly cost: number | undefined;
}

/** A request for the client, whole or streamed. */
export type Question = Omit<OpenAI.ChatCompletionCreateParams, 'stream' | 'stream_options'>;

/** Asks through the official client, whole or streamed. */
export function ask(client: OpenAI, question: Question, isStreaming: boolean): Promise<Outcome> {
  return isStreaming ? askStreamed(client, question) : askWhole(client, question);
}

async function askWhole(client: OpenAI, question: Question): Promise<Outcome> {
  try {
    const completion = await client.chat.completions.create({ ...question, stream: false });
    return {
      ...readCompletion(completion),
      requestId: completion._request_id ?? '',
      complaints: complaintsAbout(completion),
      failure: undefined,
    };
  } catch (failure) {
    return failed(failure, '');
  }
}

async function askStreamed(client: OpenAI, question: Question): Promise<Outcome> {
  let requestId = '';
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  try {
    const { data, response } = await client.chat.completions
      .create({ ...question, stream: true, stream_options: { include_usage: true } })
      .withResponse();
    requestId = response.headers.get('x-request-id') ?? '';
    for await (const chunk of data) chunks.push(chunk);
    return { ...(await readChunks(chunks)), requestId, complaints: complaintsAboutStream(chunks), failure: undefined };
  } catch (failure) {
    const said = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    return { ...failed(failure, requestId), choices: [{ content: said, reasoning: '', refusal: '', calls: [], finish: '' }] };
  }
}

function failed(failure: unknown, requestId: string): Outcome {
  const reportedId = failure instanceof OpenAI.APIError ? (failure.requestID ?? requestId) : requestId;
  return { requestId: reportedId, model: undefined, choices: [], usage: undefined, complaints: [], failure };
}

/** Assembles the chunks with the client's own helper, which throws if they are not what it expects. */
async function readChunks(chunks: readonly OpenAI.ChatCompletionChunk[]): Promise<Pick<Outcome, 'model' | 'choices' | 'usage'>> {
  const lines = chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join('');
  const completion = await ChatCompletionStream.fromReadableStream(new Blob([lines]).stream() as ReadableStream).finalChatCompletion();
  const { model, choices } = readCompletion(completion);
  return {
    model,
    // The helper keeps only the last piece of fields it does not know.
    choices: choices.map((choice, index) => ({ ...choice, reasoning: reasoningIn(chunks, index) })),
    usage: readUsage(chunks.at(-1)?.usage ?? undefined),
  };
}

function reasoningIn(chunks: readonly OpenAI.ChatCompletionChunk[], index: number): string {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => reasoningOf(choice.delta))
    .join('');
}

function readCompletion(completion: OpenAI.ChatCompletion): Pick<Outcome, 'model' | 'choices' | 'usage'> {
  return {
    model: completion.model,
    choices: completion.choices.map(({ message, finish_reason: finish }) => ({
      content: message.content ?? '',
      reasoning: reasoningOf(message),
      refusal: message.refusal ?? '',
      calls: (message.tool_calls ?? []).map((call) =>
        call.type === 'function'
          ? { id: call.id, name: call.function.name, arguments: call.function.arguments }
          : { id: call.id, name: call.custom.name, arguments: call.custom.input },
      ),
      finish,
    })),
    usage: readUsage(completion.usage),
  };
}

/** Returns the reasoning. The dialect has no field for it; this is the one that we promise. */
function reasoningOf(message: object): string {
  const { reasoning_content: reasoning } = message as { reasoning_content?: unknown };
  return typeof reasoning === 'string' ? reasoning : '';
}

function readUsage(usage: (OpenAI.CompletionUsage & { readonly cost?: number }) | undefined): ReportedUsage | undefined {
  if (usage === undefined) return undefined;
  const details = usage.prompt_tokens_details;
  return {
    prompt: usage.prompt_tokens,
    completion: usage.completion_tokens,
    total: usage.total_tokens,
    cached: details?.cached_tokens ?? 0,
    written: details?.cache_write_tokens ?? 0,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    cost: usage.cost,
  };
}
