import type { ChatRequest, JsonObject } from '../openai/types.ts';
import { HOSTS } from './hosts.ts';
import { DIALECTS } from './dialects.ts';
import type { Host } from './host.ts';
import type { DialectName } from './dialect-names.ts';
import { ProviderFault, type UpstreamRequest } from './dialect.ts';
import { lookUp } from './look-up.ts';

/** What happens to a feature: it is sent as such, lost (left out or only described in the prompt), or refused. */
export type Verdict = 'taken' | 'lost' | 'refused';

/** The parts of a destination that decide which features it supports. */
export interface ProbedPlace {
  readonly dialect: DialectName;
  readonly baseUrl: string;
  readonly host?: Host | undefined;
  readonly apiVersion?: string | undefined;
}

/** Returns where a provider is. One that is off is described as if it were on. */
export function placeOf(provider: string, configured: ReadonlyMap<string, ProbedPlace>): ProbedPlace | undefined {
  const place = configured.get(provider);
  if (place !== undefined) return place;
  const host = lookUp(HOSTS, provider);
  return host === undefined ? undefined : { dialect: host.dialect ?? 'openai', baseUrl: host.baseUrl, host };
}

/** The features that can be probed. */
export type ProbeName = keyof typeof PROBES;

/**
 * Determines what happens to a feature at a provider by encoding a request that uses it. That way the docs, the
 * model list and the catalogue check state what the dialects really do. Nothing is sent.
 */
export function probe(name: ProbeName, place: ProbedPlace, model: string): Verdict {
  const { fields, reportedAs, trace }: Probe = PROBES[name];
  try {
    const { dropped = [], body } = encode(place, model, fields);
    const isDropped = dropped.some((field) => reportedAs.some((word) => field === word || field.startsWith(`${word}.`)));
    return !isDropped && trace.test(body) ? 'taken' : 'lost';
  } catch (error) {
    if (error instanceof ProviderFault) return 'refused';
    throw error;
  }
}

/** Returns the output limit that is sent when a caller asks for this one. */
export function probeOutputLimit(place: ProbedPlace, model: string, tokens: number): number | undefined {
  const sent = LIMIT.exec(encode(place, model, { max_tokens: tokens }).body)?.[1];
  return sent === undefined ? undefined : Number(sent);
}

const LIMIT = /"(?:max_tokens|max_completion_tokens|maxOutputTokens|maxTokens)":(\d+)/;

function encode(place: ProbedPlace, model: string, fields: JsonObject): UpstreamRequest {
  const chat: ChatRequest = { model, messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return DIALECTS[place.dialect].encodeRequest(chat, { ...place, apiKey: undefined, model, outputTokensMax: undefined, maySearch: true });
}

/**
 * A request that uses a feature, the names under which its loss is reported, and a pattern that finds the feature in
 * any dialect's body.
 */
interface Probe {
  readonly fields: JsonObject;
  readonly reportedAs: readonly string[];
  readonly trace: RegExp;
}

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const PAPER = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const TOOL = { type: 'function', function: { name: 'look_up', parameters: SCHEMA } };
const NAMED = { type: 'function', function: { name: 'look_up' } };

const PROBES = {
  text: { fields: {}, reportedAs: ['messages'], trace: /Hello/ },
  images: { fields: messageWith({ type: 'image_url', image_url: { url: PIXEL } }), reportedAs: ['messages'], trace: /iVBORw0KGgo=/ },
  pdf: { fields: messageWith({ type: 'file', file: PAPER }), reportedAs: ['messages'], trace: /JVBERi0=/ },
  audio: {
    fields: messageWith({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    reportedAs: ['messages'],
    trace: /UklGRg==/,
  },
  maxTokens: { fields: { max_tokens: 100 }, reportedAs: ['max_tokens'], trace: LIMIT },
  maxCompletionTokens: { fields: { max_completion_tokens: 100 }, reportedAs: ['max_completion_tokens'], trace: LIMIT },
  tools: { fields: { tools: [TOOL] }, reportedAs: ['tools'], trace: /look_up/ },
  serialTools: { fields: { tools: [TOOL], parallel_tool_calls: false }, reportedAs: ['parallel_tool_calls'], trace: /parallel/ },
  forbiddenTools: { fields: { tools: [TOOL], tool_choice: 'none' }, reportedAs: ['tool_choice'], trace: /Hello/ },
  forcedTool: { fields: { tools: [TOOL], tool_choice: 'required' }, reportedAs: ['tool_choice'], trace: /any|required/i },
  namedTool: { fields: { tools: [TOOL], tool_choice: NAMED }, reportedAs: ['tool_choice'], trace: /look_up[^]*look_up/ },
  allowedTools: {
    fields: { tools: [TOOL], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [NAMED] } } },
    reportedAs: ['tool_choice'],
    trace: /look_up/,
  },
  jsonMode: { fields: { response_format: { type: 'json_object' } }, reportedAs: ['response_format'], trace: /json/i },
  jsonSchema: {
    fields: { response_format: { type: 'json_schema', json_schema: { name: 'an_answer', schema: SCHEMA, strict: true } } },
    reportedAs: ['response_format'],
    trace: /schema/i,
  },
  reasoning: { fields: { reasoning_effort: 'high' }, reportedAs: ['reasoning_effort'], trace: /high|reasoning_effort|thinking|budget/i },
  choices: { fields: { n: 2 }, reportedAs: ['n'], trace: /"(?:n|candidateCount)":2/ },
  stop: { fields: { stop: ['END'] }, reportedAs: ['stop'], trace: /END/ },
  sampling: { fields: { temperature: 0.4 }, reportedAs: ['temperature'], trace: /"temperature":0\.4/ },
  topP: { fields: { top_p: 0.4 }, reportedAs: ['top_p'], trace: /"top_?p":0\.4/i },
  frequencyPenalty: { fields: { frequency_penalty: 0.5 }, reportedAs: ['frequency_penalty'], trace: /frequency/ },
  penalties: { fields: { presence_penalty: 0.5 }, reportedAs: ['presence_penalty'], trace: /presence/ },
  seed: { fields: { seed: 7 }, reportedAs: ['seed'], trace: /seed":7/ },
  logprobs: { fields: { logprobs: true }, reportedAs: ['logprobs'], trace: /logprobs/i },
  topLogprobs: { fields: { logprobs: true, top_logprobs: 2 }, reportedAs: ['top_logprobs'], trace: /logprobs":2/i },
  logitBias: { fields: { logit_bias: { 50: 1 } }, reportedAs: ['logit_bias'], trace: /logit_bias/ },
  cacheHints: {
    fields: messageWith({ type: 'text', text: 'Read this.', cache_control: { type: 'ephemeral' } }),
    reportedAs: ['messages'],
    trace: /cache_control|cachePoint/,
  },
  webSearch: { fields: { web_search_options: {} }, reportedAs: ['web_search_options'], trace: /search/i },
} as const satisfies Readonly<Record<string, Probe>>;

/** Returns a user message with this part next to the greeting. */
function messageWith(part: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, part] }] };
}
