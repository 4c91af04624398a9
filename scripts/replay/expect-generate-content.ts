import { isObject, type JsonObject } from '../../src/openai/types.ts';
import { countOf, listOf, objectOf, silence, textOf, type Expected, type ExpectedChoice, type ExpectedUsage } from './expected.ts';

/** Reads a whole answer of Gemini. */
export function expectGenerateContent(body: JsonObject): Expected {
  return expectGenerateContentStream([body]);
}

/** Reads Gemini's events. Each is a partial answer, and together they are the whole. */
export function expectGenerateContentStream(events: readonly JsonObject[]): Expected {
  const choices: ExpectedChoice[] = [];
  const reasons: string[] = [];
  let usage: ExpectedUsage | undefined;
  for (const event of events) {
    if (isObject(event['error'])) return { type: 'failure', status: countOf(event['error']['code']) || 500 };
    usage = usageOf(event['usageMetadata']) ?? usage;
    if (objectOf(event['promptFeedback'])['blockReason'] !== undefined) reasons[0] = 'SAFETY';
    for (const [position, candidate] of listOf(event['candidates']).entries()) {
      const index = typeof candidate['index'] === 'number' ? candidate['index'] : position;
      addParts((choices[index] ??= silence()), listOf(objectOf(candidate['content'])['parts']));
      if (typeof candidate['finishReason'] === 'string') reasons[index] = candidate['finishReason'];
      if (candidate['finishReason'] === 'CONTINUATION') return { type: 'part' };
    }
  }
  if (reasons[0] !== undefined) choices[0] ??= silence();
  for (const [index, choice] of choices.entries()) choice.finish = finishOf(choice, reasons[index] ?? 'STOP');
  // Without any content, a failure reason means that the request failed.
  return choices.some(({ finish }) => finish === '') ? { type: 'failure', status: 502 } : { type: 'answer', choices, usage };
}

function addParts(said: ExpectedChoice, parts: readonly JsonObject[]): void {
  for (const part of parts) {
    const call = part['functionCall'];
    if (isObject(call) && call['name'] === undefined) growCall(said, call);
    else if (isObject(call)) {
      const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined;
      said.calls.push({ id, name: textOf(call['name']), json: JSON.stringify(call['args'] ?? {}) });
      growCall(said, call);
    } else if (part['thought'] === true) said.reasoning += textOf(part['text']);
    else said.content += textOf(part['text']);
  }
}

/** Collects arguments, which may arrive in pieces with their path, such as `$.a.b[0]`. Strings are appended. */
function growCall({ calls }: ExpectedChoice, { partialArgs }: JsonObject): void {
  const call = calls.at(-1);
  if (call === undefined) return;
  const root = { $: JSON.parse(call.json) as unknown };
  for (const piece of listOf(partialArgs)) {
    const path = textOf(piece['jsonPath']).match(/[^.[\]']+/gu) ?? [];
    const value = piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'] ?? null;
    setAt(root, path, value);
  }
  call.json = JSON.stringify(root.$);
}

function setAt(container: unknown, [step = '', ...rest]: readonly string[], value: unknown): unknown {
  const place = (container ?? (/^\d+$/u.test(step) ? [] : {})) as Record<string, unknown>;
  const known = place[step];
  if (rest.length > 0) place[step] = setAt(known, rest, value);
  else place[step] = typeof known === 'string' && typeof value === 'string' ? known + value : value;
  return place;
}

const FILTERED = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE|MODEL_ARMOR/u;

/** Maps the finish reason, which never mentions tool calls. */
function finishOf({ content, reasoning, calls }: ExpectedChoice, reason: string): string {
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTERED.test(reason)) return 'content_filter';
  if (calls.length > 0) return 'tool_calls';
  return reason === 'STOP' || content !== '' || reasoning !== '' ? 'stop' : '';
}

function usageOf(value: unknown): ExpectedUsage | undefined {
  if (!isObject(value) || typeof value['promptTokenCount'] !== 'number') return undefined;
  const reasoning = countOf(value['thoughtsTokenCount']);
  return {
    prompt: value['promptTokenCount'] + countOf(value['toolUsePromptTokenCount']),
    completion: countOf(value['candidatesTokenCount']) + reasoning,
    cached: countOf(value['cachedContentTokenCount']),
    written: 0,
    reasoning,
  };
}
