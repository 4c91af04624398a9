import type { Model } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import type { HttpClient } from '../http/client.ts';
import type { Exchange } from '../http/exchange.ts';
import type { ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import { ProviderFault, type DecodedReply, type Dialect } from '../providers/dialect.ts';
import { promptTokens, type TokenUsage } from '../tokens.ts';
import { decodeFault, encodeSigned, exchangeWith, type Leg } from './ask.ts';
import { keyFor, redact } from './credentials.ts';

/** The result of one small request along one route. */
export interface Trial {
  readonly hasAnswered: boolean;
  readonly durationMs: number;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Meant for the operator, and so in the provider's own words; our key is redacted. */
  readonly message: string;
  /** The model's output. */
  readonly answer: string | undefined;
}

/** The route to try, and the means to try it. */
export interface TrialFacts extends Leg {
  readonly client: HttpClient;
  readonly model: Model;
  readonly timeoutMs: number;
}

/** Enough for a word, and the least that reasoning models accept. */
const OUTPUT_TOKENS = 16;
const ANSWER_BYTES_MAX = 1_000_000;
const MESSAGE_CHARACTERS_MAX = 200;

/** Sends a minimal request along one route, as the gate would. Only the operator pays for it. */
export async function tryRoute(facts: TrialFacts): Promise<Trial> {
  const beganAtMs = performance.now();
  const duration = (): number => Math.round(performance.now() - beganAtMs);
  try {
    const { usage, outputText } = await ask(facts);
    const answer = shorten(outputText, facts.provider);
    return {
      hasAnswered: true,
      durationMs: duration(),
      ...countsOf(usage),
      message: usage === undefined ? 'it reported no usage' : '',
      answer,
    };
  } catch (error) {
    const message = describe(error, facts.provider);
    return { hasAnswered: false, durationMs: duration(), ...countsOf(undefined), message, answer: undefined };
  }
}

async function ask({ client, model, route, provider, timeoutMs }: TrialFacts): Promise<DecodedReply> {
  const dialect = DIALECTS[provider.dialect];
  const chat: ChatRequest = {
    model: model.id,
    messages: [{ role: 'user', content: 'Say ok.' }],
    max_tokens: Math.min(OUTPUT_TOKENS, model.maxOutputTokens),
  };
  const target = { ...provider, apiKey: await keyFor(provider), model: route.model, outputTokensMax: undefined };
  const exchange = exchangeWith(client, dialect, await encodeSigned(dialect, chat, target));
  const timer = setTimeout(() => exchange.abort(new Error(`no answer within ${timeoutMs / 1000} seconds`)), timeoutMs);
  try {
    const context = { modelId: model.id, wantsUsage: false, chat, requestId: 'check', createdSeconds: 0, host: provider.host };
    return dialect.decodeReply(await readAnswer(exchange, dialect), context);
  } finally {
    clearTimeout(timer);
    exchange.abort(new Error('the answer is no longer needed'));
  }
}

async function readAnswer(exchange: Exchange, dialect: Dialect): Promise<string> {
  const head = await exchange.head;
  const text = await exchange.text(ANSWER_BYTES_MAX);
  if (text === undefined) throw new ProviderFault(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
  if (head.status === 200) return text;
  throw decodeFault(dialect, text, head);
}

function countsOf(usage: TokenUsage | undefined): Pick<Trial, 'inputTokens' | 'outputTokens'> {
  return { inputTokens: usage === undefined ? undefined : promptTokens(usage), outputTokens: usage?.outputTokens };
}

function describe(error: unknown, provider: ProviderConfig): string {
  const { message, code } = error as { readonly message: string; readonly code?: unknown };
  const status = error instanceof ProviderFault && error.status !== undefined ? `${error.status}: ` : '';
  const reason = error instanceof ProviderFault || typeof code !== 'string' ? message : `it could not be reached (${code})`;
  return shorten(`${status}${reason}`, provider);
}

/** Returns the text as one bounded line, with our key and other credentials redacted. */
function shorten(text: string, provider: ProviderConfig): string {
  const redacted = redact(text.replaceAll(/\s+/g, ' ').trim(), provider);
  return redacted.length > MESSAGE_CHARACTERS_MAX ? `${redacted.slice(0, MESSAGE_CHARACTERS_MAX)}…` : redacted;
}
