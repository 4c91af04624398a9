import { expect, test } from 'bun:test';
import { limitHeaders } from '../../src/gateway/admit.ts';

test.each([
  [120, '120ms'],
  [1500, '1.5s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [61_001, '1m2s'],
  [119_500, '2m0s'],
  [359_001, '6m0s'],
])('the reset header shows %p ms as %p, never with sixty seconds', (ms, header) => {
  const limits = { requestsPerMinute: 1, tokensPerMinute: 1, concurrent: 1 };
  const headers = limitHeaders({ limits, remainingRequests: 0, remainingTokens: 0, resetRequestsMs: 0, resetTokensMs: ms });
  expect(headers['x-ratelimit-reset-tokens']).toBe(header);
});
