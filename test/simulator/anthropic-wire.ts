import type { Case } from './anthropic-rules.ts';
import { isThinkingOn, sign } from './anthropic-rules.ts';

type JsonObject = Record<string, unknown>;

/** What the simulated model does with a valid request. By default it does what was asked. */
export interface Saying {
  readonly text?: string;
  /** The thinking. An empty text is thinking whose words are not shown. */
  readonly thinking?: string;
  readonly redacted?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: JsonObject }[];
  /** Searches the web first, and cites a page in its text. */
  readonly search?: { readonly url: string; readonly title: string };
  readonly stopReason?: string;
  readonly stopDetails?: JsonObject;
  readonly cache?: { readonly read: number; readonly written: number };
  /** Sent in place of the real counts. */
  readonly usage?: unknown;
}

/** An answer, before it is sent whole or in pieces. */
export interface SimulatedMessage {
  readonly body: JsonObject & { readonly content: readonly JsonObject[]; readonly usage: JsonObject };
}

export const CLAUDE_TEXT = 'Hello! This is Claude, simulated: naïve words, ☕ and 漢字, one at a time.';
const TOOL_CALLS_MAX = 2;
const CUT_CHARACTERS = 7;

/** Composes the answer to a valid request. */
export function composeMessage(request: Case, saying: Saying): SimulatedMessage {
  const { body, modelName } = request;
  const id = crypto.randomUUID().replaceAll('-', '');
  const calls = saying.toolCalls ?? (saying.text === undefined ? callsFor(request) : []);
  const said = limit(saying.text ?? (calls.length > 0 ? '' : defaultText(request)), request);
  const search = saying.search === undefined ? [] : searchBlocks(saying.search, id);
  const text =
    said.text === ''
      ? []
      : [{ type: 'text', text: said.text, ...(saying.search === undefined ? {} : { citations: [citation(saying.search)] }) }];
  const content: JsonObject[] = [
    ...thinkingBlocks(request, saying),
    ...search,
    ...(saying.stopReason === 'pause_turn' || saying.stopReason === 'refusal' ? [] : text),
    ...calls.map(({ name, input }, index) => ({ type: 'tool_use', id: `toolu_${id.slice(0, 12)}${index}`, name, input })),
  ];
  const thinkingTokens = Math.ceil((saying.thinking ?? '').length / 4);
  return {
    body: {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: modelName,
      content,
      stop_reason: saying.stopReason ?? (calls.length > 0 ? 'tool_use' : said.reason),
      stop_sequence: said.sequence,
      ...(saying.stopDetails === undefined ? {} : { stop_details: saying.stopDetails }),
      usage: (saying.usage as JsonObject | undefined) ?? {
        input_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
        cache_creation_input_tokens: saying.cache?.written ?? 0,
        cache_read_input_tokens: saying.cache?.read ?? 0,
        cache_creation: { ephemeral_5m_input_tokens: saying.cache?.written ?? 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: said.text.split(' ').length + 8 * calls.length + thinkingTokens,
        output_tokens_details: { thinking_tokens: thinkingTokens },
        ...(saying.search === undefined ? {} : { server_tool_use: { web_search_requests: 1 } }),
        service_tier: 'standard',
      },
    },
  };
}

/** Returns the answer as events in wire order, with a ping where the real API sends one. */
export function messageEvents({ body }: SimulatedMessage): JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, usage, ...head } = body;
  const { output_tokens: _output, output_tokens_details: _details, server_tool_use: _searches, ...input } = usage;
  return [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...content.flatMap((block, index) => blockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, ...(stop_details === undefined ? {} : { stop_details }) },
      usage: { ...usage, cache_creation_input_tokens: null },
    },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const delta = (value: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: value });
  const { start, deltas } = openBlock(block);
  return [{ type: 'content_block_start', index, content_block: start }, ...deltas.map(delta), { type: 'content_block_stop', index }];
}

function openBlock(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  switch (block['type']) {
    case 'text': {
      const { citations, ...rest } = block;
      const cited = (Array.isArray(citations) ? citations : []).map((each: unknown) => ({ type: 'citations_delta', citation: each }));
      return { start: { ...rest, text: '' }, deltas: [...pieces(block['text']).map((text) => ({ type: 'text_delta', text })), ...cited] };
    }
    case 'thinking': {
      const words = pieces(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking }));
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [...words, { type: 'signature_delta', signature: block['signature'] }],
      };
    }
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(block['input']);
      // A call without arguments gets one empty piece, as from the real API.
      const parts = json === '{}' ? [''] : ['', ...pieces(json)];
      return { start: { ...block, input: {} }, deltas: parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })) };
    }
    default:
      return { start: block, deltas: [] };
  }
}

function pieces(text: unknown): string[] {
  return String(text).match(new RegExp(`[^]{1,${CUT_CHARACTERS}}`, 'gu')) ?? [];
}

function thinkingBlocks(request: Case, { thinking, redacted }: Saying): JsonObject[] {
  if (!isThinkingOn(request) || (thinking === undefined && redacted === undefined)) return [];
  const shown = request.body.thinking !== undefined && 'display' in request.body.thinking && request.body.thinking.display === 'summarized';
  const text = request.body.thinking?.type === 'enabled' || shown ? (thinking ?? '') : '';
  const signed = { type: 'thinking', thinking: text, signature: sign(text, request, request.body.messages) };
  return [...(thinking === undefined ? [] : [signed]), ...(redacted === undefined ? [] : [{ type: 'redacted_thinking', data: redacted }])];
}

function searchBlocks({ url, title }: { url: string; title: string }, id: string): JsonObject[] {
  const use = `srvtoolu_${id.slice(0, 12)}`;
  return [
    { type: 'server_tool_use', id: use, name: 'web_search', input: { query: title } },
    { type: 'web_search_tool_result', tool_use_id: use, content: [{ type: 'web_search_result', url, title, encrypted_content: 'EqgB' }] },
  ];
}

function citation(search: { url: string; title: string }): JsonObject {
  return { type: 'web_search_result_location', ...search, encrypted_index: 'Eo8B', cited_text: search.title };
}

/** A healthy model calls each offered tool once, or the tool it is required to call. */
function callsFor({ body }: Case): { name: string; input: JsonObject }[] {
  const { tools = [], tool_choice: choice, messages } = body;
  const hasResults = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
  if (choice?.type === 'none' || (hasResults && choice?.type !== 'tool' && choice?.type !== 'any')) return [];
  const offered = tools
    .flatMap((tool) => ('input_schema' in tool ? [tool] : []))
    .filter(({ name }) => choice?.type !== 'tool' || name === choice.name);
  const isSerial = choice !== undefined && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use === true;
  return offered
    .slice(0, isSerial ? 1 : TOOL_CALLS_MAX)
    .map(({ name, input_schema }) => ({ name, input: exampleOf(input_schema) as JsonObject }));
}

function defaultText({ body }: Case): string {
  const schema = body.output_config?.format?.schema;
  return schema === undefined ? CLAUDE_TEXT : JSON.stringify(exampleOf(schema));
}

/** Returns a value that matches the schema, as far as the tests need. */
function exampleOf(schema: unknown): unknown {
  const { type, properties, items, enum: values, anyOf } = (schema ?? {}) as Record<string, unknown>;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0]);
  if (type === 'object') return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inner]) => [name, exampleOf(inner)]));
  if (type === 'array') return [exampleOf(items)];
  return type === 'number' || type === 'integer' ? 7 : type === 'boolean' ? true : 'Zürich ☂';
}

/** One word is one token. The limit and the stop sequences end the text as they do at the provider. */
function limit(text: string, { body }: Case): { text: string; reason: string; sequence: string | null } {
  const words = text.match(/\s*\S+/gu) ?? [];
  const sequence = (body.stop_sequences ?? []).find((each) => text.includes(each));
  if (sequence !== undefined) return { text: text.slice(0, text.indexOf(sequence)), reason: 'stop_sequence', sequence };
  if (words.length > body.max_tokens) return { text: words.slice(0, body.max_tokens).join(''), reason: 'max_tokens', sequence: null };
  return { text, reason: 'end_turn', sequence: null };
}
