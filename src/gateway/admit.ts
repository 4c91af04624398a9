import type { KeyHolder } from '../accounts/keys.ts';
import { GatewayError, type ErrorName } from '../errors.ts';
import type { Admission, KeyLimits, Limits, LimitState, OwnLimits, LimitRefusal } from '../limits/limits.ts';
import type { Call } from './call.ts';
import type { Gate } from './gate.ts';

/** Admits a request if its key is within its limits. Otherwise throws an error that names the limit and when to try again. */
export function admit(
  limits: Limits,
  holder: KeyHolder,
  { defaults, tokensExpected }: { readonly defaults: KeyLimits; readonly tokensExpected: number },
): Admission | Promise<Admission> {
  const result = limits.admit(holder.keyId, limitsOf(holder, defaults), tokensExpected);
  return result instanceof Promise ? admittedLater(result, tokensExpected) : admitted(result, tokensExpected);
}

async function admittedLater(result: Promise<Admission | LimitRefusal>, tokensExpected: number): Promise<Admission> {
  return admitted(await result, tokensExpected);
}

function admitted(result: Admission | LimitRefusal, tokensExpected: number): Admission {
  if (result.type === 'admitted') return result;
  throw new GatewayError(ERROR_NAMES[result.limit](result), messageFor(result, tokensExpected), {
    headers: limitHeaders(result.state),
    retryAfterSeconds: (result.retryAfterMs ?? NEVER_RETRY_MS) / 1000,
  });
}

/**
 * Counts a request against the open requests of its account, or refuses it. That happens before its body is read, which takes time and memory
 * too. The operator may have given one key more than the account's share.
 */
export function admitAccount({ accountPlaces, config }: Pick<Gate, 'accountPlaces' | 'config'>, holder: KeyHolder, call: Call): void {
  const { concurrent, accountConcurrent } = config.limits;
  const max = Math.max(accountConcurrent, holder.concurrent ?? concurrent);
  if (!accountPlaces.take(holder.accountId, max)) {
    const message = `Too many concurrent requests: the API keys of this account may have ${max} open at once, all together.`;
    throw new GatewayError('too_many_concurrent_requests', `${message} Please try again in 1s.`, { retryAfterSeconds: 1 });
  }
  call.accountId = holder.accountId;
}

/** Returns the state of the key's limits as the headers that SDKs and tools read. */
export function limitHeaders(state: LimitState): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(state.limits.requestsPerMinute),
    'x-ratelimit-limit-tokens': String(state.limits.tokensPerMinute),
    'x-ratelimit-remaining-requests': String(state.remainingRequests),
    'x-ratelimit-remaining-tokens': String(state.remainingTokens),
    'x-ratelimit-reset-requests': formatDuration(state.resetRequestsMs),
    'x-ratelimit-reset-tokens': formatDuration(state.resetTokensMs),
  };
}

/** Sent with every 429 that no wait can help. Such an error also says not to retry. */
const NEVER_RETRY_MS = 60_000;

const ERROR_NAMES: Record<LimitRefusal['limit'], (refusal: LimitRefusal) => ErrorName> = {
  requests: () => 'rate_limit_exceeded',
  tokens: (refusal) => (refusal.retryAfterMs === undefined ? 'tokens_above_limit' : 'tokens_limit_exceeded'),
  concurrent: () => 'too_many_concurrent_requests',
};

/** Returns the limits of a key: its own, and the defaults for the rest. */
export function limitsOf(holder: OwnLimits, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: holder.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: holder.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrent: holder.concurrent ?? defaults.concurrent,
  };
}

function messageFor(refusal: LimitRefusal, tokensExpected: number): string {
  const { limits } = refusal.state;
  const wait = refusal.retryAfterMs === undefined ? '' : ` Please try again in ${formatDuration(refusal.retryAfterMs)}.`;
  switch (refusal.limit) {
    case 'requests':
      return `Rate limit reached: the requests of this API key are limited to ${limits.requestsPerMinute} per minute.${wait}`;
    case 'concurrent':
      return `Too many concurrent requests: this API key may have ${limits.concurrent} open at once.${wait}`;
    case 'tokens':
      return refusal.retryAfterMs === undefined
        ? `Request too large: about ${tokensExpected} tokens, but this API key may use ${limits.tokensPerMinute} tokens per minute. Shorten it or raise the limit; waiting does not help.`
        : `Rate limit reached: this API key may use ${limits.tokensPerMinute} tokens per minute, and this request needs about ${tokensExpected}.${wait}`;
  }
}

/** Formats a duration as the OpenAI API does: 120ms, 1.5s, 6m0s. */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  if (ms < 60_000) return `${ms / 1000}s`;
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
