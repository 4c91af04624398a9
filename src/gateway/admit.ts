import type { KeyHolder } from '../accounts/keys.ts';
import { GatewayError, type ErrorName } from '../errors.ts';
import type { Admission, KeyLimits, Limits, LimitState, OwnLimits, Refusal } from '../limits/limits.ts';

/** Lets a request in if its key is within its limits; otherwise says which limit, and when to come back. */
export async function admit(
  limits: Limits,
  holder: KeyHolder,
  request: { readonly defaults: KeyLimits; readonly tokensExpected: number },
): Promise<Admission> {
  const result = await limits.admit(holder.keyId, limitsOf(holder, request.defaults), request.tokensExpected);
  if (result.type === 'admitted') return result;
  throw new GatewayError(ERROR_NAMES[result.limit](result), messageFor(result, request.tokensExpected), {
    headers: limitHeaders(result.state),
    retryAfterSeconds: (result.retryAfterMs ?? NEVER_RETRY_MS) / 1000,
  });
}

/** Where the key stands, in the headers that SDKs and tools read. */
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

/** Every 429 says when to come back; one that will not fit then either also says not to retry. */
const NEVER_RETRY_MS = 60_000;

const ERROR_NAMES: Record<Refusal['limit'], (refusal: Refusal) => ErrorName> = {
  requests: () => 'rate_limit_exceeded',
  tokens: (refusal) => (refusal.retryAfterMs === undefined ? 'tokens_above_limit' : 'tokens_limit_exceeded'),
  concurrent: () => 'too_many_concurrent_requests',
};

/** What a key may use: its own limits, and for the rest those of everybody. */
export function limitsOf(holder: OwnLimits, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: holder.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: holder.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrent: holder.concurrent ?? defaults.concurrent,
  };
}

function messageFor(refusal: Refusal, tokensExpected: number): string {
  const { limits } = refusal.state;
  const wait = refusal.retryAfterMs === undefined ? '' : ` Please try again in ${formatDuration(refusal.retryAfterMs)}.`;
  switch (refusal.limit) {
    case 'requests':
      return `Rate limit reached: this API key may make ${limits.requestsPerMinute} requests a minute.${wait}`;
    case 'concurrent':
      return `This API key may have ${limits.concurrent} requests open at once, and they are.${wait}`;
    case 'tokens':
      return refusal.retryAfterMs === undefined
        ? `Request too large: about ${tokensExpected} tokens, but this API key may use ${limits.tokensPerMinute} tokens a minute. Shorten it or raise the limit; waiting does not help.`
        : `Rate limit reached: this API key may use ${limits.tokensPerMinute} tokens a minute, and this request needs about ${tokensExpected}.${wait}`;
  }
}

/** The dialect's spelling of a duration: 120ms, 1.5s, 6m0s. */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  if (ms < 60_000) return `${ms / 1000}s`;
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
