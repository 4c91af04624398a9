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

/** Reads a whole answer of Converse. */
export function expectConverse(body: JsonObject): Expected {
  const said = silence();
  for (const block of listOf(objectOf(objectOf(body['output'])['message'])['content'])) {
    const use = objectOf(block['toolUse']);
    said.content += textOf(block['text']) + citedText(block);
    said.reasoning += textOf(objectOf(objectOf(block['reasoningContent'])['reasoningText'])['text']);
    if ('name' in use && use['type'] !== 'server_tool_use') {
      said.calls.push({ id: textOf(use['toolUseId']), name: textOf(use['name']), json: JSON.stringify(use['input'] ?? {}) });
    }
  }
  return finish(said, body['stopReason'], body['usage']);
}

/** Reads the events of ConverseStream, each `{ name: payload }`. */
export function expectConverseStream(events: readonly JsonObject[]): Expected {
  const said = silence();
  const open = new Map<unknown, ExpectedCall>();
  let reason: unknown;
  let usage: unknown;
  for (const event of events) {
    if (Object.keys(event).some((name) => name.endsWith('Exception'))) return { type: 'failure', status: 500 };
    const start = objectOf(event['contentBlockStart']);
    const use = objectOf(objectOf(start['start'])['toolUse']);
    if ('name' in use && use['type'] !== 'server_tool_use') {
      const call = { id: textOf(use['toolUseId']), name: textOf(use['name']), json: '' };
      said.calls.push(call);
      open.set(start['contentBlockIndex'], call);
    }
    grow(said, open, objectOf(event['contentBlockDelta']));
    reason = objectOf(event['messageStop'])['stopReason'] ?? reason;
    usage = objectOf(event['metadata'])['usage'] ?? usage;
  }
  return finish(said, reason, usage);
}

function grow(said: ExpectedChoice, open: ReadonlyMap<unknown, ExpectedCall>, { contentBlockIndex, delta }: JsonObject): void {
  const { text, reasoningContent, toolUse } = objectOf(delta);
  said.content += textOf(text);
  said.reasoning += textOf(objectOf(reasoningContent)['text']);
  const call = open.get(contentBlockIndex);
  if (call !== undefined) call.json += textOf(objectOf(toolUse)['input']);
}

function citedText({ citationsContent }: JsonObject): string {
  return listOf(objectOf(citationsContent)['content'])
    .map(({ text }) => textOf(text))
    .join('');
}

const FINISH: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};

function finish(said: ExpectedChoice, reason: unknown, usage: unknown): Expected {
  const word = textOf(reason);
  if (word.startsWith('malformed_')) return { type: 'failure', status: 502 };
  said.finish = FINISH[word] ?? (said.calls.length > 0 ? 'tool_calls' : 'stop');
  return { type: 'answer', choices: [said], usage: usageOf(usage) };
}

/** Reads the usage. The three input counts are disjoint, and thinking is not counted separately. */
function usageOf(value: unknown): ExpectedUsage | undefined {
  if (!isObject(value) || typeof value['inputTokens'] !== 'number') return undefined;
  const cached = countOf(value['cacheReadInputTokens']);
  const written = countOf(value['cacheWriteInputTokens']);
  return { prompt: value['inputTokens'] + cached + written, completion: countOf(value['outputTokens']), cached, written, reasoning: 0 };
}
