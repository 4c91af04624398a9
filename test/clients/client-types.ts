import type OpenAI from 'openai';

/** The finish reasons that the client's types allow. */
const FINISH_REASONS = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
] as const satisfies OpenAI.ChatCompletion.Choice['finish_reason'][];

/** Checks at run time what the client's types promise. Returns the differences. */
export function complaintsAbout(completion: OpenAI.ChatCompletion): string[] {
  return [
    ...complaintsAboutEnvelope(completion, 'chat.completion'),
    ...completion.choices.flatMap((choice, position) => [
      ...claim(choice.index === position, `choice ${position} has the index ${choice.index}`),
      ...claim(FINISH_REASONS.includes(choice.finish_reason), `finish_reason is ${choice.finish_reason}`),
      ...claim(choice.message.role === 'assistant', `role is ${choice.message.role}`),
      ...claim(isTextOrNull(choice.message.content), 'content is neither a text nor null'),
      ...(choice.message.tool_calls ?? []).flatMap((call) => [
        ...claim(typeof call.id === 'string' && call.id !== '', 'a tool call has no id'),
        ...claim(call.type === 'function' || call.type === 'custom', 'a tool call has no type'),
      ]),
    ]),
  ];
}

/** Checks the chunks of a stream, and what a stream promises beyond its types. */
export function complaintsAboutStream(chunks: readonly OpenAI.ChatCompletionChunk[]): string[] {
  const identities = new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`));
  const first = new Map<number, OpenAI.ChatCompletionChunk.Choice>();
  for (const choice of chunks.flatMap((chunk) => chunk.choices)) if (!first.has(choice.index)) first.set(choice.index, choice);
  return [
    ...claim(identities.size === 1, `chunks have ${identities.size} identities`),
    ...chunks.flatMap((chunk) => complaintsAboutEnvelope(chunk, 'chat.completion.chunk')),
    ...chunks
      .slice(0, -1)
      .flatMap((chunk) => claim(chunk.usage === null && chunk.choices.length > 0, 'usage or no choices before the end')),
    ...claim(chunks.at(-1)?.choices.length === 0, 'the last chunk has choices'),
    ...[...first.values()].flatMap(({ delta }) => claim(delta.role === 'assistant', 'a choice does not begin with its role')),
    ...chunks.flatMap((chunk) => chunk.choices).flatMap(complaintsAboutDelta),
  ];
}

function complaintsAboutDelta({ index, delta, finish_reason: finish }: OpenAI.ChatCompletionChunk.Choice): string[] {
  return [
    ...claim(Number.isInteger(index), `index is ${String(index)}`),
    ...claim(finish === null || FINISH_REASONS.includes(finish), `finish_reason is ${String(finish)}`),
    ...claim(delta.role === undefined || delta.role === 'assistant', `role is ${String(delta.role)}`),
    ...claim(delta.content === undefined || isTextOrNull(delta.content), 'content is neither a text nor null'),
    ...(delta.tool_calls ?? []).flatMap((call) => claim(Number.isInteger(call.index), 'a tool call has no index')),
    // This client reads all of them; other clients read only the first.
    ...claim((delta.tool_calls ?? []).length <= 1, 'several tool calls are in one chunk'),
    ...claim(finish === null || ((delta.content ?? '') === '' && delta.tool_calls === undefined), 'a choice ends with what it says'),
  ];
}

function complaintsAboutEnvelope(body: OpenAI.ChatCompletion | OpenAI.ChatCompletionChunk, object: string): string[] {
  return [
    ...claim(body.object === object, `object is ${body.object}`),
    ...claim(typeof body.id === 'string' && body.id !== '', 'there is no id'),
    ...claim(Number.isInteger(body.created), `created is ${String(body.created)}`),
    ...claim(Array.isArray(body.choices), 'there are no choices'),
    ...complaintsAboutDetails(body.usage?.prompt_tokens_details, PROMPT_DETAILS),
    ...complaintsAboutDetails(body.usage?.completion_tokens_details, COMPLETION_DETAILS),
  ];
}

/** The counts in the details of every OpenAI report. This client accepts less; strict clients do not. */
const PROMPT_DETAILS = ['cached_tokens', 'audio_tokens'] as const satisfies (keyof OpenAI.CompletionUsage.PromptTokensDetails)[];
const COMPLETION_DETAILS = [
  'reasoning_tokens',
  'audio_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
] as const satisfies (keyof OpenAI.CompletionUsage.CompletionTokensDetails)[];

/** Checks the details of a usage report. A host that counts nothing may omit them. */
function complaintsAboutDetails(details: object | null | undefined, counts: readonly string[]): string[] {
  if (details === undefined || details === null) return [];
  return counts.flatMap((name) =>
    claim(Number.isInteger((details as Record<string, unknown>)[name]), `the details of the usage have no ${name}`),
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function claim(isSo: boolean, complaint: string): string[] {
  return isSo ? [] : [complaint];
}
