import { isObject, type JsonObject } from '../../src/openai/types.ts';
import {
  countOf,
  listOf,
  objectOf,
  silence,
  textOf,
  type Expected,
  type ExpectedCall,
  type ExpectedChoice,
  type ExpectedUsage,
} from './expected.ts';

/** Reads a whole message of Claude. */
export function expectMessages(body: JsonObject): Expected {
  if (isObject(body['error'])) return failureOf(body['error']);
  if (body['stop_reason'] === 'pause_turn') return { type: 'part' };
  const said = silence();
  addBlocks(said, body);
  end(said, body);
  return { type: 'answer', choices: [said], usage: usageOf(objectOf(body['usage'])) };
}

function addBlocks(said: ExpectedChoice, { content }: JsonObject): void {
  for (const block of listOf(content)) {
    if (block['type'] === 'text') said.content += textOf(block['text']);
    if (block['type'] === 'thinking') said.reasoning += textOf(block['thinking']);
    if (block['type'] === 'tool_use')
      said.calls.push({ id: textOf(block['id']), name: textOf(block['name']), json: JSON.stringify(block['input']) });
  }
}

/** Reads the events of a message. Counts are running totals: the last one of each name counts, and null is ignored. */
export function expectMessagesStream(events: readonly JsonObject[]): Expected {
  const said = silence();
  const open = new Map<unknown, ExpectedCall>();
  const usage: JsonObject = {};
  let hasBegun = false;
  let isCounted = false;
  for (const event of events) {
    if (event['type'] === 'error') return failureOf(objectOf(event['error']));
    if (event['type'] === 'content_block_start') openBlock(said, open, event);
    if (event['type'] === 'content_block_delta') grow(said, open.get(event['index']), objectOf(event['delta']));
    if (event['type'] === 'message_start' && !hasBegun) {
      hasBegun = true;
      const message = objectOf(event['message']);
      addBlocks(said, message);
      count(usage, message['usage']);
    }
    if (event['type'] !== 'message_delta') continue;
    count(usage, event['usage']);
    // The count at the start has hardly any output in it.
    isCounted ||= typeof objectOf(event['usage'])['output_tokens'] === 'number';
    const delta = objectOf(event['delta']);
    if (delta['stop_reason'] === 'pause_turn') return { type: 'part' };
    // Counts may be repeated without a stop reason.
    if (typeof delta['stop_reason'] === 'string' && said.finish === '') end(said, delta);
  }
  // A stream without a stop reason was cut off.
  if (said.finish === '' && !events.some(({ type }) => type === 'message_stop')) return { type: 'failure', status: 500 };
  if (said.finish === '') end(said, {});
  return { type: 'answer', choices: [said], usage: isCounted ? usageOf(usage) : undefined };
}

function count(usage: JsonObject, reported: unknown): void {
  for (const [name, value] of Object.entries(objectOf(reported))) if (value !== null) usage[name] = value;
}

/** Starts a block, which may already contain some text, or all of a call's input. */
function openBlock(said: ExpectedChoice, open: Map<unknown, ExpectedCall>, event: JsonObject): void {
  const block = objectOf(event['content_block']);
  open.delete(event['index']);
  if (block['type'] === 'text') said.content += textOf(block['text']);
  if (block['type'] === 'thinking') said.reasoning += textOf(block['thinking']);
  if (block['type'] !== 'tool_use') return;
  const input = JSON.stringify(block['input'] ?? {});
  const call = { id: textOf(block['id']), name: textOf(block['name']), json: input === '{}' ? '' : input };
  said.calls.push(call);
  open.set(event['index'], call);
}

function grow(said: ExpectedChoice, call: ExpectedCall | undefined, delta: JsonObject): void {
  if (delta['type'] === 'text_delta') said.content += textOf(delta['text']);
  if (delta['type'] === 'thinking_delta') said.reasoning += textOf(delta['thinking']);
  if (delta['type'] === 'input_json_delta' && call !== undefined) call.json += textOf(delta['partial_json']);
}

const FINISH: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

function end(said: ExpectedChoice, { stop_reason: reason, stop_details: details }: JsonObject): void {
  said.finish = FINISH[textOf(reason)] ?? (said.calls.length > 0 ? 'tool_calls' : 'stop');
  if (reason === 'refusal') said.refusal = textOf(objectOf(details)['explanation']);
}

/** Reads the usage. The three input counts are disjoint. If the conversation was compacted on the way, that step is billed too. */
function usageOf(usage: JsonObject): ExpectedUsage | undefined {
  if (typeof usage['input_tokens'] !== 'number') return undefined;
  const steps = listOf(usage['iterations']);
  const compacted = steps.filter(({ type }) => type === 'compaction');
  const isWhole = compacted.length === 0 || steps.some(({ type }) => type === 'fallback_message');
  const billed = isWhole ? [usage] : steps.filter(({ type }) => type === 'message' || type === 'compaction');
  const sum = (name: string): number => billed.reduce((total, part) => total + countOf(part[name]), 0);
  const cached = sum('cache_read_input_tokens');
  const written = sum('cache_creation_input_tokens');
  return {
    prompt: sum('input_tokens') + cached + written,
    completion: sum('output_tokens'),
    cached,
    written,
    reasoning: countOf(objectOf(usage['output_tokens_details'])['thinking_tokens']),
  };
}

const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
};

function failureOf({ type }: JsonObject): Expected {
  return { type: 'failure', status: STATUSES[textOf(type)] ?? 500 };
}
