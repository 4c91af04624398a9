import { objectsOf, type ChatRequest, type JsonObject } from '../openai/types.ts';

/** Fields whose values a translated dialect encodes, besides those that all of them do or the gateway handles. */
const HANDLED: ReadonlySet<string> = new Set(
  `model messages stream stream_options n max_tokens max_completion_tokens temperature top_p stop tools tool_choice reasoning_effort
  response_format service_tier modalities`.split(/\s+/u),
);

/** Default values: leaving them out loses nothing, so it is not reported. */
const NEUTRAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['logprobs', false],
  ['store', false],
  ['verbosity', 'medium'],
  ['parallel_tool_calls', true],
]);

/** Names the fields of a request that are lost in translation. `handled` are those that only this dialect encodes. */
export function lostFields(chat: ChatRequest, handled: readonly string[]): string[] {
  const isLost = (name: string): boolean =>
    !HANDLED.has(name) && !handled.includes(name) && (chat[name] ?? undefined) !== undefined && NEUTRAL.get(name) !== chat[name];
  return [...Object.keys(chat).filter(isLost), ...lostMessageFields(chat.messages), ...lostDetail(chat.messages)];
}

/** Names the message fields in use that only the relayed dialect supports, as reported to the caller. */
export function lostMessageFields(messages: readonly JsonObject[], names: readonly string[] = ['name', 'audio']): string[] {
  const isUsed = (name: string): boolean => messages.some((message) => message[name] !== undefined && message[name] !== null);
  return names.filter(isUsed).map((name) => `messages[].${name}`);
}

/** Reports the image detail level, which only the relayed dialect supports. `auto` is the default, so nothing is lost with it. */
export function lostDetail(messages: readonly JsonObject[]): string[] {
  const images = messages.flatMap(({ content }) => objectsOf(content)).map(({ image_url: image }) => image);
  const isLost = objectsOf(images).some(({ detail }) => typeof detail === 'string' && detail !== 'auto');
  return isLost ? ['messages[].content[].image_url.detail'] : [];
}
