import { describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/gateway/credentials.ts';
import { mayTryNext, toCallerError } from '../../src/gateway/faults.ts';
import { ProviderFault } from '../../src/providers/dialect.ts';

const keyed = (apiKey: string): Credentials => ({ apiKey, aws: undefined, serviceAccount: undefined });

describe('the wait after a 429 of a provider', () => {
  test.each<[string, number | undefined, Record<string, string>, number]>([
    ['in its body', 7, {}, 7],
    ['in its body, longer than clients wait', 86_400, {}, 3600],
    ['in its body, as zero', 0, {}, 1],
    ['in a header', undefined, { 'retry-after': '7' }, 7],
    ['in a header, longer than clients wait', undefined, { 'retry-after': '86400' }, 3600],
    ['in a header, not as a time', undefined, { 'retry-after': 'soon' }, 5],
    ['in a header in milliseconds', undefined, { 'retry-after-ms': '2500', 'retry-after': '7' }, 2.5],
    ['in a header in milliseconds, not as a number', undefined, { 'retry-after-ms': 'soon', 'retry-after': '7' }, 7],
    ['nowhere', undefined, {}, 5],
  ])('is what the provider states %s', (_, retryAfterSeconds, headers, expected) => {
    const fault = new ProviderFault('Slow down', { status: 429, retryAfterSeconds });
    const error = toCallerError(fault, { credentials: undefined, headers: new Map(Object.entries(headers)) });
    expect(error.errorName).toBe('provider_rate_limited');
    expect(error.details.retryAfterSeconds).toBe(expected);
  });
});

test('a provider refusal is shown bounded, with our key redacted wherever the provider repeats it', () => {
  const long = `${'x'.repeat(3000)} sk-ours`;
  for (const text of ['sk-ours is not for this', long]) {
    const fault = new ProviderFault(text, { status: 400, code: text, param: text });
    const { message, details } = toCallerError(fault, { credentials: keyed('sk-ours'), headers: undefined });
    for (const shown of [message, details.code ?? '', details.param ?? '']) {
      expect(shown).not.toContain('sk-ours');
      expect(shown.length).toBeLessThan(2100);
    }
  }
});

test('credentials for AWS are redacted in a provider refusal', () => {
  const aws = {
    accessKeyId: 'AKIAEXAMPLE00000',
    secretAccessKey: 'wJalr/EXAMPLE+KEY',
    sessionToken: 'IQoJb3JpZ2lu//EXAMPLE==',
    region: 'eu-central-1',
  };
  const fault = new ProviderFault(`Bad: ${Object.values(aws).join(', ')}`, { status: 400 });
  const { message } = toCallerError(fault, { credentials: { apiKey: undefined, aws, serviceAccount: undefined }, headers: undefined });
  expect(message).toBe('Bad: [redacted], [redacted], [redacted], eu-central-1');
});

test('a placeholder for a key is redacted as a word of its own only', () => {
  const fault = new ProviderFault('The key x is wrong', { status: 400, code: 'context_length_exceeded' });
  const { message, details } = toCallerError(fault, { credentials: keyed('x'), headers: undefined });
  expect([message, details.code]).toEqual(['The key [redacted] is wrong', 'context_length_exceeded']);
});

test('the message about our own limit at a provider is not shown, and another provider may take the request', () => {
  const fault = new ProviderFault('Request too large in organization `org_1`: Limit 9', { status: 413, code: 'rate_limit_exceeded' });
  const error = toCallerError(fault, { credentials: undefined, headers: undefined });
  expect(error).toMatchObject({ errorName: 'request_too_large', message: expect.not.stringContaining('org_1') as unknown });
  expect(mayTryNext(error)).toBe(true);
  expect(mayTryNext(toCallerError(new ProviderFault('Too large', { status: 413 }), { credentials: undefined, headers: undefined }))).toBe(
    false,
  );
});

test('another provider may take a request that no model has seen', () => {
  const facts = { status: 400, isUnsent: true };
  const context = { credentials: undefined, headers: undefined };
  expect(mayTryNext(toCallerError(new ProviderFault('No endpoints found that support tool use', facts), context))).toBe(true);
  expect(mayTryNext(toCallerError(new ProviderFault('Bad tools', { ...facts, isUnsent: false }), context))).toBe(false);
});
