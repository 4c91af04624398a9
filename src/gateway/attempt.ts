import { isObject, type ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import { legacyCallId } from '../providers/call-ids.ts';
import type { Answer } from './answer.ts';
import { ask, type Leg } from './ask.ts';
import { needsFanOut } from './choices.ts';
import { askToTheEnd } from './continuation.ts';
import type { Dispatch } from './dispatch.ts';
import { fanOut } from './fan-out.ts';
import type { Gate } from './gate.ts';
import { mustInline, withMedia } from './media.ts';
import { byStream, mustStream } from './whole-by-stream.ts';

/** Makes one attempt at one provider. That is one exchange as a rule, and several where the request needs them. */
export function attempt(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  // Media is fetched before any deadline of the provider starts: the provider is not to blame for a slow third-party server.
  return mustInline(gate, dispatch, leg.provider) ? inlineAndAttempt(gate, dispatch, leg) : attemptInlined(gate, dispatch, leg);
}

async function inlineAndAttempt(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  return attemptInlined(gate, await withMedia(gate, dispatch, DIALECTS[leg.provider.dialect]), leg);
}

function attemptInlined(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  const needsCarried = DIALECTS[leg.provider.dialect].recalls === true && dispatch.chat.messages.some(hasToolCalls);
  return needsCarried ? attemptWithCarried(gate, dispatch, leg) : askAsNeeded(gate, dispatch, leg);
}

function hasToolCalls(message: ChatRequest['messages'][number]): boolean {
  return Array.isArray(message['tool_calls']) || isObject(message['function_call']);
}

/** Attaches the data that the provider attached to its tool calls and wants back. Clients keep only the calls themselves. */
async function attemptWithCarried(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  const ids = dispatch.chat.messages.filter(hasToolCalls).map(toolCallIds);
  const carried = await gate.carried.recall(dispatch.toll.accountId, ids);
  return askAsNeeded(gate, { ...dispatch, carried }, leg);
}

function toolCallIds(message: ChatRequest['messages'][number]): string[] {
  const { tool_calls: calls, function_call: legacy } = message;
  if (!Array.isArray(calls)) return isObject(legacy) ? [legacyCallId(legacy)] : [];
  return calls.flatMap((call) => (isObject(call) && typeof call['id'] === 'string' ? [call['id']] : []));
}

function askAsNeeded(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  const dialect = DIALECTS[leg.provider.dialect];
  const followed = dialect.breaksOff === true ? askToTheEnd : ask;
  const single = mustStream(dispatch, dialect) ? byStream(followed) : followed;
  if (!needsFanOut(dispatch.chat, leg.provider)) return single(gate, dispatch, leg);
  return fanOut(gate, dispatch, { leg, ask: single });
}
