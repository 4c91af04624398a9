import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const RECORDS = join(ROOT, 'docs', 'decisions');

test('every run-time dependency is named in a decision record', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const records = readdirSync(RECORDS).map((name) => readFileSync(join(RECORDS, name), 'utf8'));
  expect(Object.keys(dependencies).filter((name) => !records.some((text) => text.includes(`\`${name}\``)))).toEqual([]);
});
