import type { Model, Route } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import { GatewayError } from '../errors.ts';
import type { ChatRequest } from '../openai/types.ts';
import { HOSTS } from '../providers/compatible.ts';
import { openai, readFault } from '../providers/openai.ts';
import { ProviderFault, type DecodedReply, type Provider, type UpstreamRequest } from '../providers/provider.ts';
import { sandbox } from '../providers/sandbox.ts';
import { Deadlines } from './deadlines.ts';
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
      /** Ends the provider's side; its reason tells why it ended. */
      readonly abort: AbortController;
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
  const { call, chat, model } = dispatch;
  const dialect = DIALECTS[provider.dialect];
  const isStreaming = chat.stream === true;
  const abort = new AbortController();
  const { timeouts } = gate.config;
  const phase = isStreaming
    ? { what: 'did not begin to answer within', ms: model.firstByteMs ?? timeouts.firstByteMs }
    : { what: 'did not answer within', ms: timeouts.answerMs };
  const deadlines = new Deadlines(abort, timeouts, phase);
  call.beginAttempt(abort, deadlines);
  const context = {
    modelId: model.id,
    wantsUsage: chat.stream_options?.include_usage === true,
    chat,
    requestId: call.id,
    createdSeconds: Math.floor(call.startedAtMs / 1000),
    countsReasoningApart: HOSTS[provider.id]?.countsReasoningApart === true,
  };
  let retryAfter: string | null = null;
  try {
    const request = dialect.encodeRequest(chat, { ...provider, model: route.model, outputTokensMax: dispatch.outputTokensMax });
    if (dialect.answer === undefined) deadlines.connecting(request.url);
    const response = await (dialect.answer ?? fetchUpstream)(request, abort.signal);
    deadlines.connected();
    retryAfter = response.headers.get('retry-after');
    if (response.status !== 200) throw readFault(await readBounded(response, FAULT_BYTES_MAX), response.status);
    if (!isStreaming) {
      const reply = dialect.decodeReply(await readBounded(response, REPLY_BYTES_MAX), context);
      deadlines.stop();
      return { type: 'whole', provider: provider.id, reply };
    }
    const relay = new Relay(await eventStream(response), dialect.decodeStream(context), deadlines);
    await relay.open(timeouts.keepAliveMs);
    const { apiKey } = provider;
    return { type: 'stream', provider: provider.id, relay, wantsUsage: context.wantsUsage, deadlines, apiKey, abort };
  } catch (error) {
    deadlines.stop();
    const callerError = toCallerError(error, abort.signal, { apiKey: provider.apiKey, retryAfter });
    // A stream that failed in its first event may still be open.
    abort.abort();
    throw callerError;
  }
}

/** The one place that opens connections. Addresses come from the configuration only, and redirects are not followed. */
function fetchUpstream(request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
  // `timeout` is the runtime's own, five minutes by default; ours are finer.
  const options = { method: 'POST', headers: request.headers, body: request.body, signal, redirect: 'manual', timeout: false } as const;
  return fetch(request.url, options);
}

/** A host may answer a streaming request with one JSON body, which is then an error. */
async function eventStream(response: Response): Promise<ReadableStream<Uint8Array>> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body !== null && type.includes('text/event-stream')) return response.body;
  throw readFault(await readBounded(response, FAULT_BYTES_MAX), undefined);
}

/** The body as text. A body without a length is counted as it comes, and one that is too long is an error. */
async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  if (length <= bytesMax) return response.text();
  if (length > bytesMax) throw new ProviderFault(`The provider's answer has ${length} bytes`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > bytesMax) throw new ProviderFault(`The provider's answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts, size));
}
