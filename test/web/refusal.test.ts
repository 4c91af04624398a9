import { expect, test } from 'bun:test';
import { readRefusal } from '../../web/refusal.ts';

test.each([
  ['amountUsd', 'amountUsd: must be an amount such as 25', 'Amount: must be an amount such as 25', 'Must be an amount such as 25'],
  ['budgets.day', 'budgets.day: is too large', 'Daily limit: is too large', 'Is too large'],
  ['addresses.2', 'addresses.2: is no address', 'Allowed IPs: is no address', 'Is no address'],
  ['requestsPerMinute', 'requestsPerMinute: is too large', 'Requests per minute: is too large', 'Is too large'],
  ['price_usd', 'price_usd: must be above zero', 'Price: must be above zero', 'Must be above zero'],
  ['planId', 'planId: is missing', 'Plan: is missing', 'Is missing'],
  ['password', 'Wrong password.', 'Wrong password.', 'Wrong password.'],
  [undefined, 'The request: choose one benefit.', 'Choose one benefit.', 'Choose one benefit.'],
  [undefined, 'Sign in to do this.', 'Sign in to do this.', 'Sign in to do this.'],
])('a refusal at %p never names a field of the API: %s', (field, sent, message, fieldMessage) =>
  expect(readRefusal(sent, field)).toEqual({ message, fieldMessage }),
);
