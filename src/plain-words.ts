import type { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a group of fields',
  record: 'a group of fields',
  string: 'text',
};
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  array: ['entry', 'entries'],
  string: ['character', 'characters'],
};

/** Says in plain words what a value must be, where its schema has no message of its own. */
export function sayPlainly(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return `${issue.input === undefined ? 'is missing; it must' : 'must'} be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small') return sayLimit(issue.origin, 'at least', Number(issue.minimum));
  return issue.code === 'too_big' ? sayLimit(issue.origin, 'at most', Number(issue.maximum)) : undefined;
}

function sayLimit(origin: string, bound: string, limit: number): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${bound} ${limit}` : `must have ${bound} ${limit} ${unit[limit === 1 ? 0 : 1]}`;
}
