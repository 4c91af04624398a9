import type { Host } from '../../src/providers/host.ts';
import { respond, type Recorded } from './recorded.ts';

type JsonObject = Record<string, unknown>;

/** A scripted host on loopback that deviates from the dialect as its row says, and refuses what the row says it refuses. */
export interface CompatibleSimulator {
  readonly baseUrl: string;
  readonly requests: readonly JsonObject[];
  /** Answers every further request with this. */
  play(recorded: Recorded): void;
  /** Sets the finish reason of the next answers. */
  finishWith(reason: string): void;
  stop(): Promise<void>;
}

const FIELDS = `model messages max_completion_tokens max_tokens temperature top_p n stream stream_options stop presence_penalty
  frequency_penalty logit_bias logprobs top_logprobs seed user safety_identifier prompt_cache_key metadata store service_tier
  reasoning_effort verbosity tools tool_choice parallel_tool_calls response_format web_search_options`.split(/\s+/u);

/** Starts a host with this row on a free port of 127.0.0.1. */
export function startCompatibleSimulator(host: Host): CompatibleSimulator {
  const requests: JsonObject[] = [];
  let finish = 'stop';
  let recorded: Recorded | undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as JsonObject;
      requests.push(body);
      const complaint = complaintAbout(body, host);
      if (complaint !== undefined) return Response.json({ error: { message: complaint, type: 'invalid_request_error' } }, { status: 422 });
      if (recorded !== undefined) return respond(recorded, 'chat', body['stream'] === true);
      return body['stream'] === true ? streamedAnswer(host, finish) : Response.json(wholeAnswer(host, finish));
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    play: (next) => void (recorded = next),
    finishWith: (reason) => void (finish = reason),
    stop: () => server.stop(true),
  };
}

function complaintAbout(body: JsonObject, { request = {} }: Host): string | undefined {
  const { renames = {}, efforts = {}, adds = {}, drops = [], omits = [] } = request;
  const own = new Set([...Object.values(renames), ...Object.values(efforts).flatMap(Object.keys), ...Object.keys(adds)]);
  const refused = new Set([...drops, ...omits, ...Object.keys(renames)]);
  const unknown = Object.keys(body).filter((name) => !own.has(name) && (refused.has(name) || !FIELDS.includes(name)));
  if (unknown.length > 0) return `Extra inputs are not permitted: ${unknown.join(', ')}`;
  if (request.cacheMarks === 'none' && JSON.stringify(body).includes('"cache_control"'))
    return 'Extra inputs are not permitted: cache_control';
  if (request.hasNoJsonWithTools === true && body['tools'] !== undefined && body['response_format'] !== undefined)
    return 'json mode cannot be combined with tool calling';
  if (request.toolChoice === 'auto' && (body['tool_choice'] ?? 'auto') !== 'auto') return 'Tool choice must be auto';
  if (request.toolChoice === 'unthinking' && body['tool_choice'] === 'required' && !isThinkingOff(body, efforts['none']))
    return 'Thinking mode does not support this tool_choice';
  if (request.messages?.hasBasicSchema === true && hasMoreThanBasicTools(body)) return 'tools: Input should be a valid dictionary';
  const messages = body['messages'] as JsonObject[];
  return messages.map((message) => complaintAboutMessage(message, request.messages ?? {})).find((complaint) => complaint !== undefined);
}

function isThinkingOff(body: JsonObject, off: JsonObject = {}): boolean {
  return Object.keys(off).every((name) => JSON.stringify(body[name]) === JSON.stringify(off[name]));
}

function hasMoreThanBasicTools({ tools, tool_choice: choice }: JsonObject): boolean {
  const definitions = ((tools ?? []) as { function?: JsonObject }[]).map((tool) => tool.function ?? {});
  const isRefused = definitions.some((each) => each['parameters'] === undefined || Object.values(each).includes(null));
  return isRefused || JSON.stringify(choice ?? '').includes('allowed_tools');
}

function complaintAboutMessage(message: JsonObject, quirks: NonNullable<NonNullable<Host['request']>['messages']>): string | undefined {
  const names = Object.keys(message);
  if (quirks.roles?.[String(message['role'])] !== undefined) return `Unknown role: ${String(message['role'])}`;
  if (quirks.hasBasicSchema === true && names.some((name) => name !== 'content' && message[name] === null)) return 'null is not allowed';
  if (quirks.hasBasicSchema === true && message['content'] === null && message['tool_calls'] === undefined)
    return 'invalid message content type';
  if (quirks.hasBasicSchema === true && JSON.stringify(message).includes('"arguments":""')) return 'invalid tool call arguments';
  const isNamedResult = quirks.namesToolResults === true && message['role'] === 'tool';
  const refused = names.filter((name) => quirks.drops?.includes(name) === true && !(isNamedResult && name === 'name'));
  if (refused.length > 0) return `Unknown field of a message: ${refused.join(', ')}`;
  const extensions = JSON.stringify(message).match(/"(?:reasoning\w*|thinking_blocks|images|cache_control|index|extra_content)"/gu) ?? [];
  if (quirks.stripsExtensions === true && extensions.some((name) => name !== `"${quirks.reasoningField}"`)) return 'Unknown parameter';
  if (quirks.hasShortToolIds === true) {
    const ids = [message['tool_call_id'], ...((message['tool_calls'] as { id: string }[] | undefined) ?? []).map(({ id }) => id)];
    if (ids.some((id) => typeof id === 'string' && !/^[A-Za-z0-9]{9}$/u.test(id)))
      return 'Tool call id must be a-z, A-Z, 0-9, with a length of 9';
  }
  if (isNamedResult && typeof message['name'] !== 'string') return 'A result needs its name';
  if (quirks.wantsReasoning === true && message['role'] === 'assistant' && typeof message['reasoning_content'] !== 'string')
    return 'reasoning_content is missing';
  return undefined;
}

/** What the simulated model thinks, says and calls. */
const SAID = { reasoning: 'Hm.', text: 'Hello', call: { id: 'gSIMJiOkT', function: { name: 'weather', arguments: '{}' } } };

function messageOf({ reply = {} }: Host): JsonObject {
  const call = reply.hasBareToolCalls === true ? { ...SAID.call } : { ...SAID.call, type: 'function' };
  if (reply.hasThinkingParts === true) {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: SAID.reasoning }] };
    return { role: 'assistant', content: [thinking, { type: 'text', text: SAID.text }], tool_calls: [call] };
  }
  return { role: 'assistant', content: SAID.text, [reply.reasoningField ?? 'reasoning_content']: SAID.reasoning, tool_calls: [call] };
}

/** Ten tokens in, four of them cached, and five out, two of them reasoning, counted as the host does. */
function usageOf({ reply = {}, countsReasoningApart }: Host): JsonObject {
  const completion = countsReasoningApart === true ? 3 : 5;
  const usage: JsonObject = {
    prompt_tokens: 10,
    completion_tokens: completion,
    total_tokens: 10 + completion,
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const [place = 'prompt_tokens_details.cached_tokens'] = reply.cachedTokens ?? [];
  const [name = '', inner] = place.split('.');
  return { ...usage, [name]: inner === undefined ? 4 : { [inner]: 4 } };
}

function wholeAnswer(host: Host, finish: string): JsonObject {
  const choices = [{ index: 0, message: messageOf(host), finish_reason: finish }];
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'theirs', choices, usage: usageOf(host) };
}

function streamedAnswer(host: Host, finish: string): Response {
  const chunk = (choice: JsonObject, more: JsonObject = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'theirs', choices: [choice], ...more })}\n\n`;
  const { tool_calls: calls, ...said } = messageOf(host);
  const call = host.reply?.hasBareToolCalls === true ? calls : (calls as JsonObject[]).map((value, index) => ({ index, ...value }));
  const isInChoice = host.reply?.hasUsageInChoice === true;
  const usage = usageOf(host);
  const chunks = [
    chunk({ index: 0, delta: said, finish_reason: null }),
    chunk({ index: 0, delta: { tool_calls: call }, finish_reason: null }),
    // Notes from a filter that runs after the answer, as Azure sends them. Any host may.
    chunk({ index: 0, content_filter_results: {}, finish_reason: null }),
    chunk({ index: 0, delta: {}, finish_reason: finish, ...(isInChoice ? { usage } : {}) }, isInChoice ? {} : { usage }),
    'data: [DONE]\n\n',
  ];
  return new Response(chunks.join(''), { headers: { 'content-type': 'text/event-stream' } });
}
