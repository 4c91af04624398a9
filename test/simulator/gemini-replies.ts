import { exampleOf } from './gemini-schema.ts';
import type { Recorded } from './recorded.ts';
import type { JsonObject } from './wire.ts';

/** What the simulated model does with one request. */
export type GeminiBehaviour =
  /** Says the text word by word. Obeys the output limit, stop sequences and a JSON format. */
  | { readonly type: 'text'; readonly text?: string; readonly thoughts?: string; readonly cachedTokens?: number }
  /** Calls functions, all in one turn. Only the first is signed. Without arguments, the field is omitted. */
  | { readonly type: 'calls'; readonly calls: readonly { readonly name: string; readonly args?: JsonObject }[]; readonly hasIds?: boolean }
  /** Says the text, and cites pages found by a search. */
  | {
      readonly type: 'grounded';
      readonly text: string;
      readonly pages: readonly { readonly uri: string; readonly title: string; readonly of: string }[];
    }
  | { readonly type: 'refusal'; readonly at: 'prompt' | 'answer' }
  /**
   * Breaks off at the provider's own limit, and says the rest when asked with the token. The output limit applies to
   * both texts together.
   */
  | { readonly type: 'continuation'; readonly texts: readonly [string, string] }
  | { readonly type: 'malformed_call' }
  | { readonly type: 'recorded'; readonly reply: Recorded }
  | { readonly type: 'status'; readonly status: number; readonly error: JsonObject }
  /** Fails after this many events. A complete answer fails at once, with a 200. */
  | { readonly type: 'error_event'; readonly events: number };

/** What the model says by default. */
export const GEMINI_TEXT = 'Hello! This is the simulator: naïve words, ☕ and 漢字, one at a time.';

/** What the simulator hands out and expects back. */
export interface Issued {
  readonly signatures: Set<string>;
  readonly continuationTokens: Set<string>;
}

/** Returns the events of an answer. Together they make up the complete answer. */
export function composeEvents(behaviour: GeminiBehaviour, request: JsonObject, issued: Issued): JsonObject[] {
  const envelope = { modelVersion: 'gemini-simulated', responseId: crypto.randomUUID().replaceAll('-', '').slice(0, 23) };
  const steps = composeSteps(behaviour, request, issued);
  const prompt = Math.ceil(JSON.stringify(request['contents']).length / 4);
  const counts = { candidates: 0, thoughts: 0 };
  return steps.map((step) => {
    counts.candidates += step.tokens ?? 0;
    counts.thoughts += step.thoughtTokens ?? 0;
    const cached = behaviour.type === 'text' ? behaviour.cachedTokens : undefined;
    return { ...step.event, usageMetadata: writeUsage({ prompt, cached, ...counts }), ...envelope };
  });
}

/** Joins the events into the complete answer. */
export function joinEvents(events: readonly JsonObject[]): JsonObject {
  const candidates = events.flatMap((event) => (Array.isArray(event['candidates']) ? (event['candidates'] as Candidate[]) : []));
  const last = events.at(-1) ?? {};
  if (candidates.length === 0) return last;
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  const joined = parts.length === 0 ? {} : { content: { parts: joinTexts(parts), role: 'model' } };
  return { ...last, candidates: [{ ...candidates.at(-1), ...joined, ...joinLogprobs(candidates), index: 0 }] };
}

interface Candidate {
  readonly content?: { readonly parts?: readonly JsonObject[] };
  readonly logprobsResult?: { readonly topCandidates: readonly JsonObject[]; readonly chosenCandidates: readonly JsonObject[] };
}

function joinLogprobs(candidates: readonly Candidate[]): JsonObject {
  const results = candidates.flatMap(({ logprobsResult }) => (logprobsResult === undefined ? [] : [logprobsResult]));
  if (results.length === 0) return {};
  const [topCandidates, chosenCandidates] = [
    results.flatMap((result) => result.topCandidates),
    results.flatMap((result) => result.chosenCandidates),
  ];
  return { logprobsResult: { topCandidates, chosenCandidates } };
}

interface Step {
  readonly event: JsonObject;
  readonly tokens?: number;
  readonly thoughtTokens?: number;
}

function composeSteps(behaviour: GeminiBehaviour, request: JsonObject, issued: Issued): Step[] {
  switch (behaviour.type) {
    case 'text':
      return [...thoughtSteps(behaviour.thoughts), ...textSteps(behaviour.text ?? usualText(request), request)];
    case 'grounded':
      return groundedSteps(behaviour, request);
    case 'calls':
      return callSteps(behaviour, issued);
    case 'refusal':
      return behaviour.at === 'prompt'
        ? [{ event: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } }]
        : [{ event: candidate([{ text: 'Well, ' }]), tokens: 1 }, { event: candidate([], { finishReason: 'SAFETY' }) }];
    case 'continuation':
      return continuationSteps(behaviour.texts, request, issued);
    case 'malformed_call':
      return [{ event: candidate([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: f(' }) }];
    case 'error_event':
      return [...textSteps(GEMINI_TEXT, request).slice(0, behaviour.events), { event: { error: OVERLOADED } }];
    case 'recorded':
    case 'status':
      return [];
  }
}

const OVERLOADED = { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' };

function usualText({ generationConfig }: JsonObject): string {
  const { responseMimeType, responseJsonSchema } = (generationConfig ?? {}) as JsonObject;
  if (responseMimeType === undefined) return GEMINI_TEXT;
  return JSON.stringify(responseJsonSchema === undefined ? { answer: 'yes' } : exampleOf(responseJsonSchema));
}

function thoughtSteps(thoughts: string | undefined): Step[] {
  return thoughts === undefined
    ? []
    : [{ event: candidate([{ text: thoughts, thought: true }]), thoughtTokens: thoughts.split(' ').length }];
}

function textSteps(text: string, { generationConfig }: JsonObject): Step[] {
  const { maxOutputTokens, stopSequences } = (generationConfig ?? {}) as { maxOutputTokens?: number; stopSequences?: string[] };
  const stops = (stopSequences ?? []).map((stop) => text.indexOf(stop)).filter((position) => position >= 0);
  const words = text.slice(0, Math.min(text.length, ...stops)).match(/\s*\S+/gu) ?? [];
  const said = words.slice(0, maxOutputTokens);
  const finishReason = said.length < words.length ? 'MAX_TOKENS' : 'STOP';
  // The last event has an empty signed text, as with the newest models.
  const end = candidate([{ text: '', thoughtSignature: btoa('end of text') }], { finishReason });
  return [...said.map((word) => ({ event: candidate([{ text: word }], logprobsOf(word, generationConfig)), tokens: 1 })), { event: end }];
}

/** Returns the log probabilities of a word, if requested: itself at a half, then others at a quarter. */
function logprobsOf(word: string, generationConfig: unknown): JsonObject {
  const { responseLogprobs, logprobs = 0 } = (generationConfig ?? {}) as { responseLogprobs?: boolean; logprobs?: number };
  if (responseLogprobs !== true) return {};
  const chosen = { token: word, tokenId: 7, logProbability: -0.5 };
  const others = Array.from({ length: logprobs }, (_, place) => (place === 0 ? chosen : { token: '?', tokenId: 8, logProbability: -0.25 }));
  return { logprobsResult: { topCandidates: [{ candidates: others }], chosenCandidates: [chosen] } };
}

/** Search results are reported with the last words, in bytes, as Google does. */
function groundedSteps({ text, pages }: Extract<GeminiBehaviour, { type: 'grounded' }>, request: JsonObject): Step[] {
  const bytesBefore = (at: number): number => Buffer.byteLength(text.slice(0, at));
  const groundingMetadata = {
    webSearchQueries: ['what is new'],
    groundingChunks: pages.map(({ uri, title }) => ({ web: { uri, title } })),
    groundingSupports: pages.map(({ of }, index) => {
      const at = text.indexOf(of);
      const segment = { startIndex: bytesBefore(at), endIndex: bytesBefore(at + of.length), text: of };
      return { segment, groundingChunkIndices: [index], confidenceScores: [0.9] };
    }),
  };
  const steps = textSteps(text, request);
  const ending = { finishReason: 'STOP', groundingMetadata };
  return [...steps.slice(0, -1), { event: candidate([{ text: '' }], ending) }];
}

function callSteps({ calls, hasIds }: Extract<GeminiBehaviour, { type: 'calls' }>, issued: Issued): Step[] {
  const steps = calls.map(({ name, args }, index) => {
    const thoughtSignature = btoa(`signature of ${name} ${crypto.randomUUID()}`);
    if (index === 0) issued.signatures.add(thoughtSignature);
    const id = hasIds === true ? { id: `fc-${crypto.randomUUID().slice(0, 8)}` } : {};
    const functionCall = { ...id, name, ...(args === undefined ? {} : { args }) };
    return { event: candidate([{ functionCall, ...(index === 0 ? { thoughtSignature } : {}) }]), tokens: 5, thoughtTokens: 3 };
  });
  return [...steps, { event: candidate([{ text: '' }], { finishReason: 'STOP', finishMessage: 'Model generated function call(s).' }) }];
}

const TOKENS_BEFORE_BREAK = 4;

function continuationSteps(texts: readonly [string, string], request: JsonObject, issued: Issued): Step[] {
  if (request['continuationToken'] !== undefined) {
    const { maxOutputTokens = Number.POSITIVE_INFINITY, ...config } = (request['generationConfig'] ?? {}) as { maxOutputTokens?: number };
    return textSteps(texts[1], { generationConfig: { ...config, maxOutputTokens: Math.max(0, maxOutputTokens - TOKENS_BEFORE_BREAK) } });
  }
  const continuationToken = btoa(crypto.randomUUID());
  issued.continuationTokens.add(continuationToken);
  return [
    { event: candidate([{ text: texts[0] }], logprobsOf(texts[0], request['generationConfig'])), tokens: TOKENS_BEFORE_BREAK },
    { event: candidate([], { finishReason: 'CONTINUATION', continuationToken }) },
  ];
}

function candidate(parts: readonly JsonObject[], ending: JsonObject = {}): JsonObject {
  return { candidates: [{ ...(parts.length === 0 ? {} : { content: { parts, role: 'model' } }), ...ending, index: 0 }] };
}

function joinTexts(parts: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isSame = typeof last?.['text'] === 'string' && typeof part['text'] === 'string' && last['thought'] === part['thought'];
    if (isSame) joined[joined.length - 1] = { ...last, ...part, text: `${String(last['text'])}${String(part['text'])}` };
    else joined.push(part);
  }
  return joined.filter((part) => part['text'] !== '');
}

interface Counts {
  readonly prompt: number;
  readonly cached: number | undefined;
  readonly candidates: number;
  readonly thoughts: number;
}

/** Counts of zero are omitted, and cached tokens are part of the prompt. */
function writeUsage({ prompt, cached = 0, candidates, thoughts }: Counts): JsonObject {
  return {
    promptTokenCount: prompt,
    ...(candidates === 0 ? {} : { candidatesTokenCount: candidates }),
    totalTokenCount: prompt + candidates + thoughts,
    ...(cached === 0 ? {} : { cachedContentTokenCount: cached }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
  };
}
