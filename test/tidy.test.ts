import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { environmentSchema, loadConfig } from '../src/config.ts';
import { settingsSchema } from '../src/settings.ts';
import { ERRORS } from '../src/errors.ts';
import { HOSTS, variablesOf } from '../src/providers/hosts.ts';
import { PAGES, writeBlocks } from '../scripts/providers-doc.ts';

/** Checks that no linter has: the docs match the code, and the code stays small and typed. */

const ROOT = resolve(import.meta.dirname, '..');
/** Raise a limit in a separate commit, with a reason. */
const SRC_LINES_MAX = 41_500;
const FILE_LINES_MAX = 300;
const README_LINES_MAX = 150;
const CONTRIBUTING_LINES_MAX = 149;

const sources = filesIn('src', '.ts');
const tests = filesIn('test', '.ts');
const pages = [...readdirSync(ROOT).filter((name) => name.endsWith('.md')), ...filesIn('docs', '.md')];

function filesIn(folder: string, ending: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending));
  return files.map((entry) => relative(ROOT, join(entry.parentPath, entry.name))).toSorted();
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function linesOf(path: string): string[] {
  return read(path).trimEnd().split('\n');
}

/** Returns the rows of a page's tables: the texts of their cells, without code marks. */
function rowsOf(path: string): string[][] {
  const rows = linesOf(path).filter((line) => line.startsWith('| `'));
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/u, '$1')),
  );
}

/** Returns the lines that are not comments or blank, with their places. */
function codeLinesOf(path: string): { readonly text: string; readonly place: string }[] {
  const lines = linesOf(path).map((text, index) => ({ text, place: `${path}:${index + 1}` }));
  return lines.filter(({ text }) => !/^\s*(?:\/\/|\/\*|\*|$)/u.test(text));
}

function placesOf(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    codeLinesOf(path)
      .filter(({ text }) => pattern.test(text))
      .map(({ place }) => place),
  );
}

describe('docs/errors.md', () => {
  test('lists every error with its status, and no other', () => {
    const documented = rowsOf('docs/errors.md').flatMap(([name, status]) => (/^\d{3}$/u.test(status ?? '') ? [`${name} ${status}`] : []));
    expect(documented.toSorted()).toEqual(
      Object.entries(ERRORS)
        .map(([name, { status }]) => `${name} ${status}`)
        .toSorted(),
    );
  });
});

describe('docs/configuration.md', () => {
  const rows = rowsOf('docs/configuration.md');
  const settings = settingsIn(z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema, '');

  test('lists every environment variable, and no other', () => {
    const documented = rows.map(([name]) => name ?? '').filter((name) => /^[A-Z][A-Z0-9_]*$/u.test(name));
    const known = [...Object.keys(environmentSchema.shape), ...Object.values(HOSTS).flatMap(variablesOf)];
    expect(documented.toSorted()).toEqual(known.toSorted());
  });

  test('names the provider of every key', () => {
    const documented = new Map(rows.map(([name, provider]) => [name, provider]));
    for (const [id, host] of Object.entries(HOSTS)) for (const name of variablesOf(host)) expect(documented.get(name)).toBe(id);
  });

  test('lists every key of tollgate.yaml, and no other', () => {
    const documented = rows
      .map(([name]) => name ?? '')
      .filter((name) => /^(?:providers|models|limits|timeouts|accounts|http|media|retention|payments|plans)\b/u.test(name));
    // A section that only groups others needs no row.
    const groups = new Set([
      'limits',
      'timeouts',
      'accounts',
      'accounts.sign_in',
      'accounts.sign_in.github',
      'accounts.sign_in.google',
      'accounts.sign_in.oidc',
      'http',
      'media',
      'retention',
      'payments',
      'plans[]',
      'providers.<id>',
      'models[]',
      'models[].routes[]',
    ]);
    const known = [...settings.keys()].filter((path) => !groups.has(path));
    expect(documented.filter((name) => !groups.has(name)).toSorted()).toEqual(known.toSorted());
  });

  test('lists the actual defaults', () => {
    const wrong = rows.filter(([name, documented]) => {
      const value = settings.get(name ?? '');
      return (typeof value === 'string' || typeof value === 'number') && documented !== String(value);
    });
    expect(wrong).toEqual([]);
    const { HOST, PORT, TOLLGATE_DATA, TOLLGATE_LOG_LEVEL } = environmentSchema.parse({});
    const defaults = new Map(rows.map(([name, value]) => [name, value]));
    for (const [name, value] of Object.entries({ HOST, PORT, TOLLGATE_DATA, TOLLGATE_LOG_LEVEL }))
      expect(defaults.get(name)).toBe(String(value));
  });
});

describe('the docs', () => {
  test.each(Object.entries(PAGES))('%s lists the hosts of the code; to update it, run bun scripts/providers-doc.ts', (page, blocks) => {
    for (const name of Object.keys(blocks)) expect(read(page)).toContain(`<!-- ${name}: written by`);
    expect(writeBlocks(page, read(page))).toBe(read(page));
  });

  test.each(pages)('%s has no broken links', (page) => {
    const text = read(page).replace(/^```.*?^```/gmsu, '');
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/gu)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !isValidLink(page, link))).toEqual([]);
  });

  test('README.md and CONTRIBUTING.md are short', () => {
    expect(linesOf('README.md').length).toBeLessThanOrEqual(README_LINES_MAX);
    expect(linesOf('CONTRIBUTING.md').length).toBeLessThanOrEqual(CONTRIBUTING_LINES_MAX);
  });

  test('decisions are dated, and their index lists each of them once', () => {
    const records = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md');
    expect(records.filter((name) => !/^\d{4}-\d{2}-\d{2}-[a-z0-9-]+\.md$/u.test(name))).toEqual([]);
    const listed = linesOf('docs/decisions/README.md').flatMap((line) => /^- \[[^\]]+\]\(([^)]+)\): ./u.exec(line)?.[1] ?? []);
    expect(listed.toSorted()).toEqual(records.toSorted());
  });

  test('tollgate.example.yaml loads as it is', () => {
    const config = loadConfig({ TOLLGATE_CONFIG: join(ROOT, 'tollgate.example.yaml') });
    expect(config.providers.size).toBeGreaterThan(1);
  });
});

describe('the code', () => {
  test('has no escape from its types', () => {
    expect(placesOf([...sources, ...tests], /(?:\bas|[:<|(]|=>)\s*any\b|\bany\[\]/u)).toEqual([]);
    expect(
      [...sources, ...tests].filter((path) => /@ts-(?:ignore|expect-error|nocheck)|(?:oxlint|eslint)-disable/u.test(read(path))),
    ).toEqual([]);
  });

  test('has no TODOs', () => {
    expect(sources.filter((path) => /\b(?:TODO|FIXME|XXX|HACK)\b/u.test(read(path)))).toEqual([]);
  });

  test('has no empty catch blocks', () => {
    expect([...sources, ...tests].filter((path) => /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}/u.test(read(path)))).toEqual([]);
  });

  test('skips no test', () => {
    expect(placesOf(tests, /\.(?:only|skip|todo|failing)\(|\b(?:xtest|xit|xdescribe|fdescribe)\(/u)).toEqual([]);
  });

  test('uses the runtime’s own APIs only in a few named files', () => {
    const using = sources.filter((path) =>
      codeLinesOf(path).some(({ text }) => /\bBun\.|(?<!import type .*)['"]bun(?:['"]|:)/u.test(text)),
    );
    expect(using).toEqual([
      'src/commands/serve.ts',
      'src/commands/text.ts',
      'src/dashboard/auth/hashing.ts',
      'src/dashboard/web-files.ts',
      'src/database/sqlite.ts',
      'src/http/client-connection.ts',
      'src/http/connection.ts',
      'src/http/server.ts',
      'src/limits/redis-link.ts',
      'src/observe/memory-watch.ts',
    ]);
    const typed = sources.filter((path) => codeLinesOf(path).some(({ text }) => /^import type .*['"]bun:/u.test(text)));
    expect(typed).toEqual(['src/database/kysely.ts', 'src/ledger/sqlite-apply.ts', 'src/ledger/sqlite-books.ts']);
    const started = sources.filter((path) => read(path).startsWith('#!'));
    expect(started).toEqual(['src/main.ts']);
  });

  test('has no overlong files', () => {
    expect(sources.filter((path) => codeLinesOf(path).length > FILE_LINES_MAX)).toEqual([]);
  });

  test('stays within its size limit', () => {
    expect(sources.reduce((sum, path) => sum + codeLinesOf(path).length, 0)).toBeLessThanOrEqual(SRC_LINES_MAX);
  });
});

describe('the packages', () => {
  test('are locked without registry addresses', () => {
    expect(read('package-lock.json')).not.toContain('"resolved"');
  });

  test('are locked with the checksum of their content', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { integrity?: string }> };
    const { '': _, ...installed } = packages;
    // Without a checksum, npm installs whatever the registry sends.
    expect(Object.keys(installed).filter((path) => installed[path]?.integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });

  test('are pinned to exact versions', () => {
    const manifest = JSON.parse(read('package.json')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/u.test(version))).toEqual([]);
  });
});

interface JsonSchema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
}

/** Returns every setting by its path as in the docs, such as `models[].price.input`, with its default. */
function settingsIn(schema: JsonSchema, path: string): Map<string, unknown> {
  const found = new Map<string, unknown>(path === '' ? [] : [[path, schema.default]]);
  const add = (inner: JsonSchema, name: string): void => settingsIn(inner, name).forEach((value, key) => found.set(key, value));
  for (const [name, inner] of Object.entries(schema.properties ?? {})) add(inner, path === '' ? name : `${path}.${name}`);
  if (typeof schema.additionalProperties === 'object') add(schema.additionalProperties, `${path}.<id>`);
  // The items of a list of plain values are not settings.
  if (schema.items?.properties !== undefined) add(schema.items, `${path}[]`);
  return found;
}

function isValidLink(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || (target.endsWith('.md') && anchorsOf(target).has(anchor));
}

/** Returns the anchors of a page's headings: lower case, hyphens for spaces, no other symbols. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = linesOf(page).filter((line) => /^#+ /u.test(line));
  const slugs = headings.map((line) =>
    line
      .replace(/^#+ /u, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(slugs);
}
