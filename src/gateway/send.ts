import type { Model, Route } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import { GatewayError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { exchangeLocally } from '../http/local-exchange.ts';
import type { ResponseHead } from '../http/response-parser.ts';
import type { ChatRequest } from '../openai/types.ts';
import { HOSTS } from '../providers/compatible.ts';
import { openai, readFault } from '../providers/openai.ts';
import { ProviderFault, type DecodedReply, type Provider, type UpstreamRequest } from '../providers/provider.ts';
import { sandbox } from '../providers/sandbox.ts';
import { Deadlines, type Phase } from './deadlines.ts';
import { mayTryNext, toCallerError } from './faults.ts';
import type { Call, Gate } from './gate.ts';
import { Relay } from './relay.ts';

/** What is sent, for whom. */
export interface Dispatch {
  readonly call: Call;
  readonly chat: ChatRequest;
  readonly model: Model;
  readonly outputTokensMax: number | undefined;
}

/** A provider's answer: all of it, or a stream whose first chunk is here. */
export type Answer =
  | { readonly type: 'whole'; readonly provider: string; readonly reply: DecodedReply }
  | {
      readonly type: 'stream';
      readonly provider: string;
      readonly relay: Relay;
      readonly wantsUsage: boolean;
      readonly deadlines: Deadlines;
      readonly apiKey: string | undefined;
      readonly exchange: Exchange;
    };

/** Sends a request along the model's routes until one answers. */
export async function send(gate: Gate, dispatch: Dispatch): Promise<Answer> {
  let failure: GatewayError | undefined;
  for (const route of dispatch.model.routes) {
    const provider = gate.config.providers.get(route.provider);
    if (provider === undefined) continue;
    const beganAtMs = performance.now();
    try {
      return await attempt(gate, dispatch, { route, provider });
    } catch (error) {
      failure = error as GatewayError;
      const durationMs = Math.round(performance.now() - beganAtMs);
      dispatch.call.failedAttempts.push({ provider: provider.id, outcome: failure.errorName, durationMs });
      gate.log.attemptFailed({ requestId: dispatch.call.id, model: dispatch.model.id, provider: provider.id, error: failure });
      if (dispatch.call.isClientGone || !mayTryNext(failure)) break;
    }
  }
  throw failure ?? new GatewayError('internal_error', 'The model has no route.');
}

const DIALECTS: Record<ProviderConfig['dialect'], Provider> = { openai, sandbox };
const REPLY_BYTES_MAX = 64_000_000;
const FAULT_BYTES_MAX = 64_000;

interface Leg {
  readonly route: Route;
  readonly provider: ProviderConfig;
}

/** One try at one provider. Whatever goes wrong is thrown as what the caller may be told. */
async function attempt(gate: Gate, dispatch: Dispatch, { route, provider }: Leg): Promise<Answer> {
  const { call, chat, model, outputTokensMax } = dispatch;
  const dialect = DIALECTS[provider.dialect];
  const { timeouts } = gate.config;
  const deadlines = new Deadlines(timeouts, firstPhase(gate, dispatch));
  const context = {
    modelId: model.id,
    wantsUsage: chat.stream_options?.include_usage === true,
    chat,
    requestId: call.id,
    createdSeconds: Math.floor(call.startedAtMs / 1000),
    countsReasoningApart: HOSTS[provider.id]?.countsReasoningApart === true,
  };
  let exchange: Exchange | undefined;
  let head: ResponseHead | undefined;
  try {
    const request = dialect.encodeRequest(chat, { ...provider, model: route.model, outputTokensMax });
    exchange = exchangeWith(gate, dialect, request, deadlines);
    call.beginAttempt(exchange, deadlines);
    head = await exchange.head;
    if (head.status !== 200) throw readFault(await readText(exchange, FAULT_BYTES_MAX), head.status);
    refuseEncoding(head);
    if (chat.stream !== true) {
      const reply = dialect.decodeReply(await readText(exchange, REPLY_BYTES_MAX), context);
      deadlines.stop();
      return { type: 'whole', provider: provider.id, reply };
    }
    if (!isEventStream(head)) throw readFault(await readText(exchange, FAULT_BYTES_MAX), undefined);
    const relay = new Relay(exchange, dialect.decodeStream(context), deadlines);
    await relay.open(timeouts.keepAliveMs);
    const { apiKey } = provider;
    return { type: 'stream', provider: provider.id, relay, wantsUsage: context.wantsUsage, deadlines, apiKey, exchange };
  } catch (error) {
    deadlines.stop();
    // A stream that failed in its first event may still be open.
    exchange?.abort(error);
    throw toCallerError(error, { apiKey: provider.apiKey, retryAfter: head?.headers.get('retry-after') });
  }
}

/** What the provider must do first, and in which time. */
function firstPhase({ config: { timeouts } }: Gate, { chat, model }: Dispatch): Phase {
  return chat.stream === true
    ? { what: 'did not begin to answer within', ms: model.firstByteMs ?? timeouts.firstByteMs }
    : { what: 'did not answer within', ms: timeouts.answerMs };
}

/** The one place that opens connections. Addresses come from the configuration only, and redirects are not followed. */
function exchangeWith(gate: Gate, { answer }: Provider, request: UpstreamRequest, deadlines: Deadlines): Exchange {
  const onConnected = (): void => deadlines.connected();
  if (answer === undefined) return gate.client.post(request, onConnected);
  return exchangeLocally((signal) => answer(request, signal), onConnected);
}

/** The body as text; one that is too long is the provider's fault. */
async function readText(exchange: Exchange, bytesMax: number): Promise<string> {
  const text = await exchange.text(bytesMax);
  if (text === undefined) throw new ProviderFault(`The provider's answer has more than ${bytesMax} bytes`);
  return text;
}

/** Every request asks for a body as it is. */
function refuseEncoding({ headers }: ResponseHead): void {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new ProviderFault('The provider compressed its answer, which nobody asked for');
}

/** A host may answer a streaming request with one JSON body, which is then an error. */
function isEventStream({ headers }: ResponseHead): boolean {
  return headers.get('content-type')?.includes('text/event-stream') === true;
}
