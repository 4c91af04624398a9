import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** Checks that docs/dashboard.md lists the component kit: every part that pages use, and none that does not exist. */

const ROOT = resolve(import.meta.dirname, '../..');
const WEB = join(ROOT, 'web');
const entries = readdirSync(WEB, { recursive: true, withFileTypes: true }).filter((entry) => /\.tsx?$/u.test(entry.name));
const files = entries.map((entry) => relative(WEB, join(entry.parentPath, entry.name)));
const isOfKit = (file: string): boolean => file.startsWith('ui/');

function read(file: string): string {
  return readFileSync(join(WEB, file), 'utf8');
}

const exported = new Set(files.filter(isOfKit).flatMap((file) => namesIn(file, /^export (?:function|const) (\w+)/gmu)));

/** The components that are imported from the kit. Functions and types are not listed. */
const used = files
  .filter((file) => !isOfKit(file))
  .flatMap((file) => namesIn(file, /^import \{([^}]*)\} from '[^']*\/ui\/[^']*';/gmu))
  .flatMap((names) => names.split(',').map((name) => name.trim()))
  .filter((name) => /^[A-Z][a-z]\w+$/u.test(name) && exported.has(name));

const listed = partsInTable(readFileSync(join(ROOT, 'docs/dashboard.md'), 'utf8'));

test('docs/dashboard.md lists every part of the kit that a page uses', () => {
  expect([...new Set(used)].filter((name) => !listed.includes(name))).toEqual([]);
  expect(used.length).toBeGreaterThan(100);
});

test('docs/dashboard.md lists no part that does not exist', () => {
  expect(listed.filter((name) => !exported.has(name))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

test('docs/dashboard.md names only files of web/ that exist', () => {
  const [, tree = ''] = /```\nweb\/\n(.*?)```/su.exec(readFileSync(join(ROOT, 'docs/dashboard.md'), 'utf8')) ?? [];
  const named = [...tree.matchAll(/(?<=^ {2}|\.ts {2}|; )[a-z-]+\.(?:tsx?|css)/gmu)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !readdirSync(WEB).includes(name))).toEqual([]);
});

function namesIn(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map(([, name = '']) => name);
}

/** Returns the parts that the table of the kit names: components, and functions with their brackets. */
function partsInTable(page: string): string[] {
  const [, section = ''] = page.split('\n## The kit\n');
  const table = section.slice(0, section.search(/\n## /u));
  return [...table.matchAll(/`([A-Z]\w+|\w+\(\))`/gu)].map(([, name = '']) => name.replace('()', ''));
}
