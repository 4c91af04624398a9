import { SseParser } from '../../src/http/sse.ts';
import { textOf, type ChatRequest, type JsonObject } from '../../src/openai/types.ts';
import type { DecodedReply, Dialect, ReplyContext, StreamDecoder, Target } from '../../src/providers/dialect.ts';

/** A choice as a client assembles it, from one body or from chunks. */
export interface Seen {
  readonly message: JsonObject;
  readonly finish: unknown;
  readonly decoded: DecodedReply | StreamDecoder;
}

export function contextFor(chat: ChatRequest, changes: Partial<ReplyContext> = {}): ReplyContext {
  return { modelId: 'anthropic/claude', wantsUsage: true, chat, requestId: 'req_1', createdSeconds: 1_790_000_000, ...changes };
}

/** Sends a chat to a provider and decodes the answer. Rejects with the decoded fault. */
export async function drive(dialect: Dialect, chat: ChatRequest, target: Target): Promise<Seen> {
  const request = dialect.encodeRequest(chat, target);
  const response = await fetch(request.url, { method: 'POST', headers: request.headers, body: request.body });
  if (response.status !== 200) throw dialect.decodeFault(await response.text(), response.status, (name) => response.headers.get(name));
  const context = contextFor(chat, target.continuation === undefined ? {} : { continuation: target.continuation });
  if (chat.stream !== true) return seeReply(dialect.decodeReply(await response.text(), context));
  const parser = new SseParser();
  const decoder = dialect.decodeStream(context);
  const chunks = parser.push(new Uint8Array(await response.arrayBuffer())).flatMap((event) => decoder.push(event));
  return seeStream(decoder, chunks, { isContinued: target.continuation !== undefined });
}

export function seeReply(decoded: DecodedReply): Seen {
  const [choice] = decoded.body['choices'] as { message: JsonObject; finish_reason: unknown }[];
  return { message: choice?.message ?? {}, finish: choice?.finish_reason, decoded };
}

/** Joins the chunks as clients do, and checks what they all rely on. */
export function seeStream(decoded: StreamDecoder, texts: readonly string[], { isContinued = false } = {}): Seen {
  const message: JsonObject = { role: 'assistant', refusal: null, content: null };
  const calls: Record<string, JsonObject>[] = [];
  let finish: unknown = null;
  texts.forEach((text, position) => {
    const { choices } = JSON.parse(text) as { choices: { index: number; delta: JsonObject; finish_reason: unknown }[] };
    const [choice] = choices;
    if (choice === undefined || choice.index !== 0 || finish !== null) throw new Error(`a chunk out of place: ${text}`);
    const { role, tool_calls: toolCalls, ...rest } = choice.delta;
    if ((role === 'assistant') !== (position === 0 && !isContinued)) throw new Error(`a role out of place: ${text}`);
    for (const [field, value] of Object.entries(rest))
      message[field] =
        field === 'annotations'
          ? [...((message[field] ?? []) as unknown[]), ...(value as unknown[])]
          : `${textOf(message[field])}${textOf(value)}`;
    for (const call of (toolCalls ?? []) as (JsonObject & { index: number })[]) joinCall(calls, call);
    finish = choice.finish_reason;
  });
  if (calls.length > 0) message['tool_calls'] = calls;
  if (message['content'] === '' && (calls.length > 0 || message['refusal'] !== null)) message['content'] = null;
  return { message, finish, decoded };
}

function joinCall(calls: Record<string, JsonObject>[], { index, ...delta }: JsonObject & { index: number }): void {
  const known = calls[index];
  if (known === undefined) {
    if (index !== calls.length) throw new Error(`tool call ${index} comes before its turn`);
    calls.push(delta as Record<string, JsonObject>);
    return;
  }
  for (const kind of ['function', 'custom'])
    for (const [field, value] of Object.entries((delta[kind] ?? {}) as JsonObject)) {
      const part = known[kind] ?? {};
      part[field] = String(part[field]) + String(value);
    }
}
