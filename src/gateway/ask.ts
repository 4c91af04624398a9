import type { Route } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import { toGatewayError } from '../errors.ts';
import type { HttpClient } from '../http/client.ts';
import { decodeText, type ConnectWatcher, type Exchange } from '../http/exchange.ts';
import { exchangeLocally } from '../http/local-exchange.ts';
import { isCompressed, type ResponseHead } from '../http/response-parser.ts';
import { SseParser } from '../http/sse.ts';
import { callerLimitOf, type ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import {
  ProviderFault,
  type DecodedReply,
  type Dialect,
  type ReplyContext,
  type Target,
  type UpstreamRequest,
} from '../providers/dialect.ts';
import type { Answer } from './answer.ts';
import { holdReply } from './body-memory.ts';
import { keyFor } from './credentials.ts';
import { Deadlines, type Phase } from './deadlines.ts';
import type { Dispatch } from './dispatch.ts';
import { toCallerError } from './faults.ts';
import type { Watcher } from './call.ts';
import type { Gate } from './gate.ts';
import { addHop } from './hops.ts';
import { PlayedReply } from './played-reply.ts';
import { refuseTooDeep, Relay, type EventParser } from './relay.ts';

/** One way to reach a model: a provider, and the model's name there. */
export interface Leg {
  readonly route: Route;
  readonly provider: ProviderConfig;
}

const REPLY_BYTES_MAX = 64_000_000;
/** Generous, because some hosts repeat the whole request in their error. */
const FAULT_BYTES_MAX = 1_000_000;

/** Runs one exchange with one provider. Every failure is thrown as an error that the client may see. */
export async function ask(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  const { chat } = dispatch;
  const { route, provider } = leg;
  const dialect = DIALECTS[provider.dialect];
  const { timeouts } = gate.config;
  const isPlayed = chat.stream === true && dialect.streams?.(chat, route.model) === false;
  const deadlines = new Deadlines(timeouts, firstPhase(gate, dispatch, isPlayed), dispatch.endsAtMs);
  const context = contextOf(dispatch, leg);
  const form = { dialect, context, hold: holderOf(gate, dispatch) };
  const watcher = dispatch.watcher ?? dispatch.call;
  let exchange: Exchange | undefined;
  try {
    const encoded = encode(dialect, dispatch, leg);
    if (provider.serviceAccount !== undefined) await waitForToken(encoded, watcher, deadlines);
    const request = encoded instanceof Promise ? await encoded : encoded;
    exchange = exchangeWith(gate.client, dialect, addHop(request, dispatch.call), deadlines);
    watcher.watch(exchange, deadlines);
    const common = { provider: provider.id, servedModel: route.model, dropped: request.dropped ?? [] };
    if (isPlayed) {
      const source = new PlayedReply(readPlayed(exchange, form, deadlines), context);
      await source.open(timeouts.keepAliveMs);
      return { ...common, type: 'stream', source, wantsUsage: context.wantsUsage, credentials: provider };
    }
    const head = await exchange.head;
    if (!isAnswer(head)) throw await faultOf(head, exchange, dialect);
    if (chat.stream !== true || (dispatch.takesWhole === true && !isEventStream(head))) {
      const reply = readArrived(exchange, form) ?? (await readReply(exchange, form));
      deadlines.stop();
      return { ...common, type: 'whole', reply, prompts: 1 };
    }
    if (!isEventStream(head)) throw decodeFault(dialect, await readFaultText(exchange), undefined);
    const parser = dialect.framing === undefined ? new SseParser() : await openParser();
    const relay = new Relay(exchange, { parser, decoder: dialect.decodeStream(context), choices: chat.n ?? 1, hold: form.hold }, deadlines);
    // While another route could be asked instead, a provider must show more than its headers before the client's stream opens.
    await relay.open(timeouts.keepAliveMs, dispatch.model.routes.length === 1);
    return { ...common, type: 'stream', source: relay, wantsUsage: context.wantsUsage, credentials: provider };
  } catch (error) {
    deadlines.stop();
    // A stream that failed at its first event may still be open.
    exchange?.abort(error);
    throw toCallerError(error, { credentials: provider, headers: exchange?.arrivedHead?.headers, isUnsent: exchange === undefined });
  }
}

// What makes a closure, or waits where most requests do not, is a function of its own: in the one above it would cost each request objects.

/** Returns what counts bytes of the reply, or with a negative number frees them. It may throw to refuse them. */
function holderOf({ held }: Gate, { call }: Dispatch): (bytes: number) => void {
  return (bytes) => holdReply(call, bytes, held);
}

/** Reads a whole reply while the client's stream may already be open. */
async function readPlayed(exchange: Exchange, form: ReplyForm, deadlines: Deadlines): Promise<DecodedReply> {
  try {
    const head = await exchange.head;
    if (!isAnswer(head)) throw await faultOf(head, exchange, form.dialect);
    return await readReply(exchange, form);
  } finally {
    deadlines.stop();
  }
}

/** Whether an answer follows this head, in a form that can be read. */
function isAnswer(head: ResponseHead): boolean {
  return head.status === 200 && !isCompressed(head);
}

/** Returns why no answer follows this head. */
async function faultOf(head: ResponseHead, exchange: Exchange, dialect: Dialect): Promise<ProviderFault> {
  if (head.status !== 200) return decodeFault(dialect, await readFaultText(exchange), head);
  return new ProviderFault('The provider compressed its answer although the request did not allow it');
}

/** Returns a whole reply that came together with its head; undefined while there is more to come. */
function readArrived(exchange: Exchange, form: ReplyForm): DecodedReply | undefined {
  const bytes = exchange.takeArrived();
  if (bytes === undefined) return undefined;
  form.hold(bytes.length);
  return decodeReply(decodeText(bytes), bytes.length, form);
}

/** Reads a whole reply as it arrives. */
async function readReply(exchange: Exchange, form: ReplyForm): Promise<DecodedReply> {
  let heldBytes = 0;
  const onBytes = (count: number): void => {
    form.hold(count);
    heldBytes += count;
  };
  const text = await exchange.text(REPLY_BYTES_MAX, onBytes).catch((error: unknown) => {
    form.hold(-heldBytes);
    throw error;
  });
  return decodeReply(text, heldBytes, form);
}

/** Decodes a reply. Its bytes count as held until the call has ended, or until it fails: another route may follow. */
function decodeReply(text: string | undefined, heldBytes: number, { dialect, context, hold }: ReplyForm): DecodedReply {
  try {
    if (text === undefined) throw new ProviderFault(`The provider's answer has more than ${REPLY_BYTES_MAX} bytes`);
    refuseTooDeep(text);
    return dialect.decodeReply(text, context);
  } catch (error) {
    hold(-heldBytes);
    throw error;
  }
}

/** How a whole reply is read, and where its bytes are counted. */
interface ReplyForm {
  readonly dialect: Dialect;
  readonly context: ReplyContext;
  readonly hold: (bytes: number) => void;
}

/** Returns the first deadline of the provider: to start a stream, or to send the whole answer. */
function firstPhase({ config: { timeouts } }: Gate, { chat, model }: Dispatch, isPlayed: boolean): Phase {
  return chat.stream === true && !isPlayed
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

/** Encodes the request for the provider: translated, with our credentials, and signed where the dialect signs. */
function encode(dialect: Dialect, dispatch: Dispatch, leg: Leg): UpstreamRequest | Promise<UpstreamRequest> {
  const target = targetOf(dialect, dispatch, leg);
  // An access token has to be fetched. A key is at hand, so the common case stays synchronous.
  return leg.provider.serviceAccount === undefined
    ? encodeSigned(dialect, dispatch.chat, target)
    : encodeWithToken(dialect, dispatch, { target, leg });
}

async function encodeWithToken(
  dialect: Dialect,
  { chat }: Dispatch,
  { target, leg }: { readonly target: Target; readonly leg: Leg },
): Promise<UpstreamRequest> {
  return encodeSigned(dialect, chat, { ...target, apiKey: await keyFor(leg.provider) });
}

/** Waits for an access token. The wait does not count against the provider's deadlines, and it ends when the client leaves. */
async function waitForToken(encoded: unknown, watcher: Watcher, deadlines: Deadlines): Promise<void> {
  const ended = Promise.withResolvers<never>();
  deadlines.suspend();
  watcher.watch({ abort: ended.reject }, deadlines);
  await Promise.race([encoded, ended.promise]);
  deadlines.restart();
}

/**
 * Encodes the request with the target's credentials, signed where the dialect signs. A failure that is no refusal is a mistake of ours:
 * counted against the provider, a client with such a request could have its routes paused.
 */
export function encodeSigned(dialect: Dialect, chat: ChatRequest, target: Target): UpstreamRequest | Promise<UpstreamRequest> {
  try {
    const request = dialect.encodeRequest(chat, target);
    return dialect.sign === undefined ? request : dialect.sign(request, target, Date.now());
  } catch (error) {
    throw error instanceof ProviderFault ? error : toGatewayError(error);
  }
}

function targetOf(dialect: Dialect, dispatch: Dispatch, { route, provider }: Leg): Target {
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

/** The one place that sends requests to providers. Addresses come only from the configuration; redirects are not followed. */
export function exchangeWith(client: HttpClient, { answer }: Dialect, request: UpstreamRequest, watcher?: ConnectWatcher): Exchange {
  return answer === undefined ? client.post(request, watcher) : exchangeWithAnswer(answer, request, watcher);
}

function exchangeWithAnswer(answer: NonNullable<Dialect['answer']>, request: UpstreamRequest, watcher?: ConnectWatcher): Exchange {
  return exchangeLocally((signal) => answer(request, signal), watcher);
}

/** Loads Amazon's framing with the first stream that uses it: it takes memory that most installations never need. */
async function openParser(): Promise<EventParser> {
  const { AwsEventStreamParser } = await import('../http/aws-event-stream.ts');
  return new AwsEventStreamParser();
}

/** Reads the error body as text, or '' when it is too long. The status alone then decides whether the request or the provider is at fault. */
async function readFaultText(exchange: Exchange): Promise<string> {
  return (await exchange.text(FAULT_BYTES_MAX)) ?? '';
}

/** Decodes an error. Without a head, it came with status 200. */
export function decodeFault(dialect: Dialect, text: string, head: ResponseHead | undefined): ProviderFault {
  return dialect.decodeFault(text, head?.status, (name) => head?.headers.get(name) ?? null);
}

/** Whether the answer is a stream. A host may answer a streaming request with one JSON body, which is then an error. */
function isEventStream({ headers }: ResponseHead): boolean {
  const type = (headers.get('content-type') ?? '').toLowerCase();
  return type.includes('text/event-stream') || type.includes('application/vnd.amazon.eventstream');
}
