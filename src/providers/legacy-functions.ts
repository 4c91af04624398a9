import { isObject, textOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import type { Host } from './host.ts';
import { LegacyStream, writeLegacyReply } from './legacy-answers.ts';
import { legacyCallId } from './call-ids.ts';
import { ProviderFault, type Dialect, type ReplyContext, type Target, type UpstreamRequest } from './dialect.ts';

/**
 * Adds support for the legacy tool format to a dialect, or to the hosts that do not know it: `functions`, `function_call`,
 * and messages with the role `function`. They are converted to the current format before the dialect sees them. The
 * answer is converted back when the caller used the legacy format.
 */
export function withLegacyFunctions(dialect: Dialect, isMissing: (host: Host | undefined) => boolean = () => true): Dialect {
  const isConverted = (chat: ChatRequest, host: Host | undefined): boolean => isLegacy(chat) && isMissing(host);
  const isConvertedBack = ({ chat, host }: ReplyContext): boolean => wantsFunctionCall(chat) && isMissing(host);
  const modernContext = (context: ReplyContext): ReplyContext =>
    isConverted(context.chat, context.host) ? { ...context, chat: modernise(context.chat).chat } : context;
  return {
    ...dialect,
    encodeRequest: (chat, target) =>
      isConverted(chat, target.host) ? encodeLegacy(dialect, chat, target) : dialect.encodeRequest(chat, target),
    decodeReply(text, context) {
      const reply = dialect.decodeReply(text, modernContext(context));
      return isConvertedBack(context) ? writeLegacyReply(reply) : reply;
    },
    decodeStream(context) {
      const decoder = dialect.decodeStream(modernContext(context));
      return isConvertedBack(context) ? new LegacyStream(decoder) : decoder;
    },
  };
}

function isLegacy(chat: ChatRequest): boolean {
  return (
    chat['functions'] !== undefined ||
    chat['function_call'] !== undefined ||
    chat.messages.some((message) => message['role'] === 'function' || isObject(message['function_call']))
  );
}

/** A caller that also sends `tools` knows the current format. */
function wantsFunctionCall(chat: ChatRequest): boolean {
  return chat['functions'] !== undefined && chat['tools'] === undefined;
}

function encodeLegacy(dialect: Dialect, chat: ChatRequest, target: Target): UpstreamRequest {
  const modern = modernise(chat);
  const carried = new Map(target.carried);
  for (const [id, origin] of modern.repeated) {
    const kept = carried.get(origin);
    if (kept !== undefined) carried.set(id, kept);
  }
  try {
    const request = dialect.encodeRequest(modern.chat, { ...target, carried });
    // One call at a time is inherent in the legacy format.
    const dropped = (request.dropped ?? []).filter((name) => chat[name] !== undefined || name !== 'parallel_tool_calls');
    return { ...request, dropped: wantsFunctionCall(chat) ? dropped.map(legacyName) : dropped };
  } catch (error) {
    if (!(error instanceof ProviderFault) || error.param === undefined || !wantsFunctionCall(chat)) throw error;
    const { message, status, code, retryAfterSeconds } = error;
    throw new ProviderFault(message, { status, code, retryAfterSeconds, param: legacyName(error.param) });
  }
}

/** Returns the name under which the caller knows a field. */
function legacyName(param: string): string {
  return param.replace(/^tools(\[\d*\])?(?:\.function)?/u, 'functions$1').replace(/^tool_choice/u, 'function_call');
}

interface Modern {
  readonly chat: ChatRequest;
  /** Ids of repeated calls, mapped to the id of the first: the same call made again needs its own id. */
  readonly repeated: ReadonlyMap<string, string>;
}

function modernise(chat: ChatRequest): Modern {
  const { functions, function_call: choice, ...rest } = chat;
  const tools = Array.isArray(functions) ? functions.map((definition: unknown) => ({ type: 'function', function: definition })) : [];
  const { messages, repeated } = moderniseMessages(chat.messages);
  const modern: Record<string, unknown> & ChatRequest = { ...rest, messages };
  if (tools.length > 0) {
    modern['tools'] = [...(Array.isArray(chat['tools']) ? chat['tools'] : []), ...tools];
    if (choice !== undefined) modern['tool_choice'] ??= isObject(choice) ? { type: 'function', function: choice } : choice;
    // A legacy answer has room for a single call.
    if (wantsFunctionCall(chat)) modern['parallel_tool_calls'] = false;
  }
  return { chat: modern, repeated };
}

type Messages = ChatRequest['messages'];

function moderniseMessages(messages: Messages): { readonly messages: Messages; readonly repeated: Modern['repeated'] } {
  const repeated = new Map<string, string>();
  const used = new Set<string>();
  let open: string | undefined;
  const modern = messages.map((message, index) => {
    const { function_call: call, ...rest } = message;
    const answers = open;
    open = undefined;
    if (message['role'] === 'function') return moderniseResult(message, answers);
    if (!isObject(call)) return message;
    // A call counts only if its result follows immediately, as providers require.
    if (messages[index + 1]?.['role'] !== 'function') return { content: null, ...rest };
    const origin = legacyCallId(call);
    const id = used.has(origin) ? `${origin}_${index}` : origin;
    if (id !== origin) repeated.set(id, origin);
    used.add(id);
    open = id;
    return { content: null, ...rest, tool_calls: [{ id, type: 'function', function: { arguments: '{}', ...call } }] };
  });
  return { messages: modern, repeated };
}

/** A result without a matching call becomes a user message. */
function moderniseResult({ content }: JsonObject, id: string | undefined): JsonObject {
  const text = textOf(content);
  return id === undefined ? { role: 'user', content: text } : { role: 'tool', tool_call_id: id, content: text };
}
