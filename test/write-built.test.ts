import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBuilt } from '../scripts/write-built.ts';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-built-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const files = (contents: Readonly<Record<string, string>>) =>
  new Map(Object.entries(contents).map(([name, text]) => [name, Buffer.from(text)]));

test('a build keeps unchanged files untouched, replaces changed ones and removes obsolete ones', async () => {
  await writeBuilt(folder, files({ 'page.html': 'one', 'part/chunk.js': 'same', 'old.js': 'old' }));
  const before = statSync(join(folder, 'part/chunk.js'), { bigint: true });
  await writeBuilt(folder, files({ 'page.html': 'two', 'part/chunk.js': 'same' }));
  const after = statSync(join(folder, 'part/chunk.js'), { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  expect(readdirSync(folder).toSorted()).toEqual(['page.html', 'part']);
  expect(readFileSync(join(folder, 'page.html'), 'utf8')).toBe('two');
});
