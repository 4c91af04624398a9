import { expect, test } from 'bun:test';
import { explainError } from '../../src/usage/error-meanings.ts';
import { REQUEST_ERRORS } from '../../src/usage/vocabulary.ts';

test('every error that requests can be filtered by has a status and its own meaning', () => {
  const explained = REQUEST_ERRORS.map((code) => explainError(code));
  expect(explained.filter(({ status }) => status === undefined)).toEqual([]);
  expect(new Set(explained.map(({ meaning }) => meaning)).size).toBe(REQUEST_ERRORS.length);
  expect(REQUEST_ERRORS).toContain('request_too_large');
});

test('an unknown error code is still explained', () => {
  expect(explainError('of_another_version')).toMatchObject({ code: 'of_another_version', status: undefined });
});
