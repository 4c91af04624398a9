import { describe, expect, test } from 'bun:test';
import { mayTryNext, toCallerError } from '../../src/gateway/faults.ts';
import { ProviderFault } from '../../src/providers/provider.ts';

describe('a provider that is too busy', () => {
  test.each<[string, number | undefined, string | undefined, number]>([
    ['in its body', 7, undefined, 7],
    ['in its body, longer than anybody waits', 86_400, undefined, 3600],
    ['in its body, as nothing', 0, undefined, 1],
    ['in a header', undefined, '7', 7],
    ['in a header, longer than anybody waits', undefined, '86400', 3600],
    ['in a header, as no time', undefined, 'soon', 5],
    ['nowhere', undefined, undefined, 5],
  ])('says when to come back %s', (_, retryAfterSeconds, retryAfter, expected) => {
    const fault = new ProviderFault('Slow down', { status: 429, retryAfterSeconds });
    const error = toCallerError(fault, { apiKey: undefined, retryAfter });
    expect(error.errorName).toBe('provider_rate_limited');
    expect(error.details.retryAfterSeconds).toBe(expected);
  });
});

test('a refusal of the request is told without our key, wherever in it the provider repeats that, and not at any length', () => {
  const said = `${'x'.repeat(3000)} sk-ours`;
  for (const text of ['sk-ours is not for this', said]) {
    const fault = new ProviderFault(text, { status: 400, code: text, param: text });
    const { message, details } = toCallerError(fault, { apiKey: 'sk-ours', retryAfter: undefined });
    for (const told of [message, details.code ?? '', details.param ?? '']) {
      expect(told).not.toContain('sk-ours');
      expect(told.length).toBeLessThan(2100);
    }
  }
});

test('a limit of ours at one provider is told without its words, and another provider may take the request', () => {
  const fault = new ProviderFault('Request too large in organization `org_1`: Limit 9', { status: 413, code: 'rate_limit_exceeded' });
  const error = toCallerError(fault, { apiKey: undefined, retryAfter: undefined });
  expect(error).toMatchObject({ errorName: 'request_too_large', message: expect.not.stringContaining('org_1') as unknown });
  expect(mayTryNext(error)).toBe(true);
  expect(mayTryNext(toCallerError(new ProviderFault('Too large', { status: 413 }), { apiKey: undefined, retryAfter: undefined }))).toBe(
    false,
  );
});
