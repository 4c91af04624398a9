import type { Route } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import type { HttpClient } from '../http/client.ts';
import type { Exchange } from '../http/exchange.ts';
import { exchangeLocally } from '../http/local-exchange.ts';
import type { ResponseHead } from '../http/response-parser.ts';
import { SseParser } from '../http/sse.ts';
import type { ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import { readFault } from '../providers/openai.ts';
import { ProviderFault, type Provider, type ReplyContext, type Target, type UpstreamRequest } from '../providers/provider.ts';
import { keyFor } from './credentials.ts';
import { Deadlines, type Phase } from './deadlines.ts';
import { toCallerError } from './faults.ts';
import type { Gate, Watcher } from './gate.ts';
import { addHop } from './hops.ts';
import { callerLimitOf } from './price.ts';
import { refuseTooDeep, Relay, type EventParser } from './relay.ts';
import type { Answer, Dispatch } from './send.ts';

/** One way to a model: the provider, and what the model is called there. */
export interface Leg {
  readonly route: Route;
  readonly provider: ProviderConfig;
}

const REPLY_BYTES_MAX = 64_000_000;
/** Some hosts repeat the whole request in what they say about it. */
const FAULT_BYTES_MAX = 1_000_000;

/** One exchange with one provider. Whatever goes wrong is thrown as what the caller may be told. */
export async function ask(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  const { chat } = dispatch;
  const { route, provider } = leg;
  const dialect = DIALECTS[provider.dialect];
  const { timeouts } = gate.config;
  const deadlines = new Deadlines(timeouts, firstPhase(gate, dispatch), dispatch.endsAtMs);
  const context = contextOf(dispatch, leg);
  const watcher = dispatch.watcher ?? dispatch.call;
  let exchange: Exchange | undefined;
  let head: ResponseHead | undefined;
  try {
    const encoded = encode(dialect, dispatch, leg);
    if (provider.serviceAccount !== undefined) await waitFor(encoded, watcher, deadlines);
    const request = encoded instanceof Promise ? await encoded : encoded;
    exchange = exchangeWith(gate.client, dialect, addHop(request, dispatch.call), () => deadlines.connected());
    watcher.beginAttempt(exchange, deadlines);
    head = await exchange.head;
    if (head.status !== 200) throw decodeFault(dialect, await readFaultText(exchange), head);
    refuseEncoding(head);
    const common = { provider: provider.id, servedModel: route.model, dropped: request.dropped ?? [] };
    if (chat.stream !== true || (dispatch.takesWhole === true && !isEventStream(head))) {
      const text = await exchange.text(REPLY_BYTES_MAX);
      if (text === undefined) throw new ProviderFault(`The provider's answer has more than ${REPLY_BYTES_MAX} bytes`);
      refuseTooDeep(text);
      const reply = dialect.decodeReply(text, context);
      deadlines.stop();
      return { ...common, type: 'whole', reply, prompts: 1 };
    }
    if (!isEventStream(head)) throw decodeFault(dialect, await readFaultText(exchange), undefined);
    const parser = dialect.framing === undefined ? new SseParser() : await openParser();
    const relay = new Relay(exchange, { parser, decoder: dialect.decodeStream(context), choices: chat.n ?? 1 }, deadlines);
    await relay.open(timeouts.keepAliveMs);
    return { ...common, type: 'stream', source: relay, wantsUsage: context.wantsUsage, apiKey: provider.apiKey };
  } catch (error) {
    deadlines.stop();
    // A stream that failed in its first event may still be open.
    exchange?.abort(error);
    throw toCallerError(error, { apiKey: provider.apiKey, retryAfter: head?.headers.get('retry-after'), isUnsent: exchange === undefined });
  }
}

/** What the provider must do first, and in which time. */
function firstPhase({ config: { timeouts } }: Gate, { chat, model }: Dispatch): Phase {
  return chat.stream === true
    ? { what: 'did not begin to answer within', ms: model.firstByteMs ?? timeouts.firstByteMs }
    : { what: 'did not answer within', ms: timeouts.answerMs };
}

function contextOf({ call, chat, model, continuation, choiceIndex }: Dispatch, { route, provider: { host } }: Leg): ReplyContext {
  return {
    modelId: model.id,
    providerModel: route.model,
    wantsUsage: chat.stream_options?.include_usage === true,
    chat,
    requestId: call.id,
    createdSeconds: Math.floor(call.startedAtMs / 1000),
    host,
    continuation,
    choiceIndex,
  };
}

/** The request as the provider wants it: translated, with our credentials, signed where it must be. */
function encode(dialect: Provider, dispatch: Dispatch, leg: Leg): UpstreamRequest | Promise<UpstreamRequest> {
  const target = targetOf(dialect, dispatch, leg);
  // A token has to be fetched; a key is there, and is not waited for.
  return leg.provider.serviceAccount === undefined
    ? encodeSigned(dialect, dispatch.chat, target)
    : keyFor(leg.provider).then((apiKey) => encodeSigned(dialect, dispatch.chat, { ...target, apiKey }));
}

/** Waits for an access token. That time does not count against the provider, and ends when the caller leaves. */
async function waitFor(encoded: unknown, watcher: Watcher, deadlines: Deadlines): Promise<void> {
  const ended = Promise.withResolvers<never>();
  deadlines.waiting();
  watcher.beginAttempt({ abort: ended.reject }, deadlines);
  await Promise.race([encoded, ended.promise]);
  deadlines.begin();
}

/** The request with the credentials of the target, signed where the dialect signs. */
export function encodeSigned(dialect: Provider, chat: ChatRequest, target: Target): UpstreamRequest | Promise<UpstreamRequest> {
  const request = dialect.encodeRequest(chat, target);
  return dialect.sign === undefined ? request : dialect.sign(request, target, Date.now());
}

function targetOf(dialect: Provider, dispatch: Dispatch, { route, provider }: Leg): Target {
  const { chat, source, model, outputTokensMax, carried, continuation } = dispatch;
  const isLimitMissing = dialect.needsOutputLimit === true && callerLimitOf(chat) === undefined;
  return {
    ...provider,
    model: route.model,
    outputTokensMax: outputTokensMax ?? (isLimitMissing ? model.maxOutputTokens : undefined),
    source,
    carried,
    continuation,
    maySearch: model.features.includes('web_search'),
  };
}

/** The one place that sends requests to providers. Addresses come from the configuration only, and redirects are not followed. */
export function exchangeWith(client: HttpClient, { answer }: Provider, request: UpstreamRequest, onConnected: () => void): Exchange {
  if (answer === undefined) return client.post(request, onConnected);
  return exchangeLocally((signal) => answer(request, signal), onConnected);
}

/** Amazon's framing is loaded with the first stream that has it: it takes memory that most installations never need. */
async function openParser(): Promise<EventParser> {
  const { AwsEventStreamParser } = await import('../http/aws-event-stream.ts');
  return new AwsEventStreamParser();
}

/** The body as text, empty where it is too long: its status alone then says whether the request or the provider is at fault. */
async function readFaultText(exchange: Exchange): Promise<string> {
  return (await exchange.text(FAULT_BYTES_MAX)) ?? '';
}

/** An error in the dialect's own spelling. Without a head it came with status 200. */
export function decodeFault(dialect: Provider, text: string, head: ResponseHead | undefined): ProviderFault {
  if (dialect.decodeFault === undefined) return readFault(text, head?.status);
  return dialect.decodeFault(text, head?.status, (name) => head?.headers.get(name) ?? null);
}

/** Every request asks for a body as it is. */
function refuseEncoding({ headers }: ResponseHead): void {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new ProviderFault('The provider compressed its answer, which nobody asked for');
}

/** A host may answer a streaming request with one JSON body, which is then an error. */
function isEventStream({ headers }: ResponseHead): boolean {
  const type = headers.get('content-type') ?? '';
  return type.includes('text/event-stream') || type.includes('application/vnd.amazon.eventstream');
}
