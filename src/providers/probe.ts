import type { ChatRequest, JsonObject } from '../openai/types.ts';
import { DIALECTS } from './dialects.ts';
import type { Host } from './host.ts';
import { ProviderFault, type DialectName, type UpstreamRequest } from './provider.ts';

/** What becomes of something that a caller asks for: it is sent, left out (or only told in words), or a mistake. */
export type Verdict = 'taken' | 'lost' | 'refused';

/** Where a request would go, as far as that decides what can be asked for. */
export interface ProbedPlace {
  readonly dialect: DialectName;
  readonly baseUrl: string;
  readonly host?: Host | undefined;
  readonly apiVersion?: string | undefined;
}

/** What can be tried out. */
export type ProbeName = keyof typeof PROBES;

/**
 * Finds out what becomes of a feature at a provider by writing a request that uses it, so that what the docs and the check
 * of the catalogue say is what the dialects do. Nothing is sent.
 */
export function probe(name: ProbeName, place: ProbedPlace, model: string): Verdict {
  const { fields, told, trace }: Probe = PROBES[name];
  try {
    const { dropped = [], body } = encode(place, model, fields);
    const isDropped = dropped.some((field) => told.some((word) => field === word || field.startsWith(`${word}.`)));
    return !isDropped && trace.test(body) ? 'taken' : 'lost';
  } catch (error) {
    if (error instanceof ProviderFault) return 'refused';
    throw error;
  }
}

/** The output limit that is sent where a caller asks for this one. */
export function probeOutputLimit(place: ProbedPlace, model: string, tokens: number): number | undefined {
  const sent = LIMIT.exec(encode(place, model, { max_tokens: tokens }).body)?.[1];
  return sent === undefined ? undefined : Number(sent);
}

const LIMIT = /"(?:max_tokens|max_completion_tokens|maxOutputTokens|maxTokens)":(\d+)/;

function encode(place: ProbedPlace, model: string, fields: JsonObject): UpstreamRequest {
  const chat: ChatRequest = { model, messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return DIALECTS[place.dialect].encodeRequest(chat, { ...place, apiKey: undefined, model, outputTokensMax: undefined, maySearch: true });
}

/** A request that uses a feature, the names under which its loss is told, and what its presence looks like on any wire. */
interface Probe {
  readonly fields: JsonObject;
  readonly told: readonly string[];
  readonly trace: RegExp;
}

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const PAPER = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const TOOL = { type: 'function', function: { name: 'look_up', parameters: SCHEMA } };
const NAMED = { type: 'function', function: { name: 'look_up' } };

const PROBES = {
  text: { fields: {}, told: ['messages'], trace: /Hello/ },
  images: { fields: saying({ type: 'image_url', image_url: { url: PIXEL } }), told: ['messages'], trace: /iVBORw0KGgo=/ },
  pdf: { fields: saying({ type: 'file', file: PAPER }), told: ['messages'], trace: /JVBERi0=/ },
  audio: {
    fields: saying({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    told: ['messages'],
    trace: /UklGRg==/,
  },
  tools: { fields: { tools: [TOOL] }, told: ['tools'], trace: /look_up/ },
  serialTools: { fields: { tools: [TOOL], parallel_tool_calls: false }, told: ['parallel_tool_calls'], trace: /parallel/ },
  forbiddenTools: { fields: { tools: [TOOL], tool_choice: 'none' }, told: ['tool_choice'], trace: /Hello/ },
  forcedTool: { fields: { tools: [TOOL], tool_choice: 'required' }, told: ['tool_choice'], trace: /any|required/i },
  namedTool: { fields: { tools: [TOOL], tool_choice: NAMED }, told: ['tool_choice'], trace: /look_up[^]*look_up/ },
  allowedTools: {
    fields: { tools: [TOOL], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [NAMED] } } },
    told: ['tool_choice'],
    trace: /look_up/,
  },
  jsonSchema: {
    fields: { response_format: { type: 'json_schema', json_schema: { name: 'an_answer', schema: SCHEMA, strict: true } } },
    told: ['response_format'],
    trace: /schema/i,
  },
  reasoning: { fields: { reasoning_effort: 'high' }, told: ['reasoning_effort'], trace: /high|thinking|budget/i },
  choices: { fields: { n: 2 }, told: ['n'], trace: /"(?:n|candidateCount)":2/ },
  stop: { fields: { stop: ['END'] }, told: ['stop'], trace: /END/ },
  sampling: { fields: { temperature: 0.4 }, told: ['temperature'], trace: /"temperature":0\.4/ },
  penalties: { fields: { presence_penalty: 0.5 }, told: ['presence_penalty'], trace: /presence/ },
  seed: { fields: { seed: 7 }, told: ['seed'], trace: /seed":7/ },
  logprobs: { fields: { logprobs: true }, told: ['logprobs'], trace: /logprobs/i },
  cacheHints: {
    fields: saying({ type: 'text', text: 'Read this.', cache_control: { type: 'ephemeral' } }),
    told: ['messages'],
    trace: /cache_control|cachePoint/,
  },
  webSearch: { fields: { web_search_options: {} }, told: ['web_search_options'], trace: /search/i },
} as const satisfies Readonly<Record<string, Probe>>;

/** A message that says this beside its greeting. */
function saying(part: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, part] }] };
}
