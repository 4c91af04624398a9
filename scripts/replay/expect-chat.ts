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

/** Reads a whole answer in the chat-completions dialect, including the hosts' own words. */
export function expectChat(body: JsonObject): Expected {
  if (isObject(body['error'])) return failureOf(body['error']);
  const choices = listOf(body['choices']).map((choice) => {
    const said = silence();
    addMessage(said, objectOf(choice['message']));
    said.finish = finishOf(choice['finish_reason'], said);
    return said;
  });
  return { type: 'answer', choices, usage: usageOf(body['usage']) };
}

/** Reads a stream of chunks. */
export function expectChatStream(chunks: readonly JsonObject[]): Expected {
  const failed = chunks.map(({ error }) => error).find(isObject);
  if (failed !== undefined) return failureOf(failed);
  const choices: ExpectedChoice[] = [];
  let usage: ExpectedUsage | undefined;
  for (const chunk of chunks) {
    usage = usageOf(chunk['usage'] ?? objectOf(chunk['x_groq'])['usage'] ?? listOf(chunk['choices'])[0]?.['usage']) ?? usage;
    for (const choice of listOf(chunk['choices'])) {
      const said = (choices[countOf(choice['index'])] ??= silence());
      addMessage(said, objectOf(choice['delta']));
      // A content filter's note after the end does not change the reason.
      if (typeof choice['finish_reason'] === 'string') said.finish = finishOf(choice['finish_reason'], said);
    }
  }
  return { type: 'answer', choices, usage };
}

function addMessage(said: ExpectedChoice, message: JsonObject): void {
  const { content } = message;
  const parts = listOf(content);
  said.content += textOf(content) + parts.map((part) => textOf(part['text'])).join('');
  said.reasoning += textOf(message['reasoning_content'] ?? message['reasoning']) + parts.map(thinkingOf).join('');
  said.refusal += textOf(message['refusal']);
  for (const call of listOf(message['tool_calls'])) addCall(said.calls, call);
}

function thinkingOf({ thinking }: JsonObject): string {
  return (
    textOf(thinking) +
    listOf(thinking)
      .map(({ text }) => textOf(text))
      .join('')
  );
}

/** Adds a piece to the call of its index. Without an index, a new id or another name starts a call. */
function addCall(calls: ExpectedCall[], call: JsonObject): void {
  const called = objectOf(call['function'] ?? call['custom']);
  const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined;
  const last = calls.at(-1);
  const isNext = id !== undefined || (textOf(called['name']) !== '' && called['name'] !== last?.name);
  const found = id === undefined ? undefined : calls.find((one) => one.id === id);
  const known = typeof call['index'] === 'number' ? calls[call['index']] : (found ?? (isNext ? undefined : last));
  const given = called['arguments'] ?? called['input'];
  const json = isObject(given) ? JSON.stringify(given) : textOf(given);
  if (known === undefined) calls.push({ id, name: textOf(called['name']), json });
  else {
    known.json += json;
    if (known.name === '') known.name = textOf(called['name']);
  }
}

/** Maps a host's finish reason to one of the dialect's. A plain end after tool calls becomes theirs. */
function finishOf(reason: unknown, { calls }: ExpectedChoice): string {
  const word = textOf(reason);
  const finish = OTHER_WORDS[word] ?? (KNOWN.has(word) ? word : 'stop');
  return finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish;
}

const KNOWN = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const OTHER_WORDS: Readonly<Record<string, string>> = {
  model_length: 'length',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  model_context_window_exceeded: 'length',
  sensitive: 'content_filter',
};

/** Reads the usage. If the total shows that reasoning is counted separately, it is added to the completion. */
function usageOf(value: unknown): ExpectedUsage | undefined {
  if (!isObject(value) || typeof value['prompt_tokens'] !== 'number') return undefined;
  const prompt = countOf(value['prompt_tokens']);
  const completion = countOf(value['completion_tokens']);
  const details = objectOf(value['prompt_tokens_details'] ?? value['prompt_token_details']);
  const reasoning = countOf(objectOf(value['completion_tokens_details'])['reasoning_tokens']);
  const isApart = reasoning > 0 && value['total_tokens'] === prompt + completion + reasoning;
  return {
    prompt,
    completion: isApart ? completion + reasoning : completion,
    cached: countOf(details['cached_tokens'] ?? value['prompt_cache_hit_tokens'] ?? value['num_cached_tokens'] ?? value['cached_tokens']),
    written: countOf(details['cache_write_tokens']),
    reasoning,
  };
}

function failureOf({ code, status }: JsonObject): Expected {
  const reported = [code, status].map(Number).find((number) => number >= 400 && number <= 599);
  return { type: 'failure', status: reported ?? 500 };
}
