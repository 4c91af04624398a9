import { expect, test } from 'bun:test';
import { z } from 'zod';
import { check } from '../../src/dashboard/validate.ts';

const SCHEMA = z.object({
  days: z.coerce.number().int().min(1),
  name: z.string().max(3).optional(),
  view: z.enum(['list', 'sum']).optional(),
});

test.each([
  [{ days: 'x' }, 'days: must be a number'],
  [{ days: '0' }, 'days: must be at least 1'],
  [{ days: 1, name: 'long' }, 'name: must have at most 3 characters'],
  [{ days: 1, view: 'x' }, 'view: must be one of list, sum'],
  [7, 'The request: must be a group of fields'],
])('a wrong request is refused in plain words: %j', (value, message) => {
  expect(() => check(value, SCHEMA)).toThrow(message);
});
