import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';

/** Checks the layers of docs/architecture.md against the imports of the code and the rules of the linter. */

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

/** One row of the table: parts that import neither each other nor what stands above them. */
interface Layer {
  readonly parts: readonly string[];
  /** Whether a file in `src/` may be imported. */
  readonly allows: (path: string) => boolean;
}

const sources = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name).slice(SRC.length + 1));
const layers = readLayers();

test('the table of the layers names every folder and file in src/, once', () => {
  expect(layers.flatMap(({ parts }) => parts).toSorted()).toEqual(readdirSync(SRC).toSorted());
});

test('imports point down only', () => {
  const wrong = sources.flatMap((path) => {
    const layer = layers.find(({ parts }) => parts.includes(partOf(path)));
    const others = importsOf(path).filter((target) => partOf(target) !== partOf(path));
    return others.filter((target) => layer?.allows(target) !== true).map((target) => `${path} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test.each(layers.slice(1).map((layer) => [layer.parts.join(', '), layer] as const))(
  'the linter refuses what %s must not import',
  (_, layer) => {
    const refuses = readLintRule(layer);
    const differing = sources.filter((path) => refuses(path) === layer.allows(path));
    expect(differing).toEqual([]);
  },
);

test('every import of a file is found, also of types and of threads', () => {
  expect(importsOf('gateway/count-tokens.ts')).toEqual(expect.arrayContaining(['gateway/count-tokens-worker.ts', 'start-worker.ts']));
  expect(importsOf('gateway/credentials.ts')).toEqual(['config.ts', 'providers/vertex/service-account.ts']);
});

function readLayers(): Layer[] {
  const [, section = ''] = /\n## Layers\n(.*?)\n## /su.exec(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')) ?? [];
  const rows = [...section.matchAll(/^\| \d+ \| (.*?) \| (.*?) \|$/gmu)].map(([, parts = '', rule = '']) => ({
    parts: namesIn(parts),
    rule,
  }));
  return rows.map(({ parts, rule }, index) => {
    const below = new Set(rows.slice(index + 1).flatMap((row) => row.parts));
    const names = namesIn(rule);
    const isNamed = (path: string): boolean => names.some((name) => path === name || path.startsWith(`${name}/`));
    const [kind = ''] = rule.split(' `');
    expect(['everything', 'everything but', 'only', 'nothing']).toContain(kind);
    return { parts, allows: (path) => below.has(partOf(path)) && (kind === 'everything' || (kind === 'only') === isNamed(path)) };
  });
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/gu)].map(([, name = '']) => name);
}

/** Returns the folder or file directly in `src/`. */
function partOf(path: string): string {
  return path.split('/')[0] ?? '';
}

function importsOf(path: string): string[] {
  const text = readFileSync(join(SRC, path), 'utf8');
  const written = [...text.matchAll(/(?:\bfrom |\bimport |\bimport\(|\bnew URL\()'(\.[^']+)'/gu)].map(([, target = '']) => target);
  return written.map((target) => normalize(join(dirname(path), target))).filter((target) => !target.startsWith('..'));
}

interface Pattern {
  readonly regex?: string;
  readonly group?: readonly string[];
}

/** Returns the linter's rule for a layer: whether its files may not import a file. */
function readLintRule({ parts }: Layer): (path: string) => boolean {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as {
    overrides: { files: string[]; rules: { 'no-restricted-imports'?: [string, { patterns: Pattern[] }] } }[];
  };
  const files = parts.map((part) => `src/${part.endsWith('.ts') ? part : `${part}/**`}`);
  const [, options] = overrides.find((each) => Bun.deepEquals(each.files, files))?.rules['no-restricted-imports'] ?? [];
  const patterns = options?.patterns ?? [];
  // In a group, as in .gitignore, the last match decides.
  const matches = ({ regex, group = [] }: Pattern, path: string): boolean =>
    regex === undefined
      ? group.findLast((glob) => new Bun.Glob(glob.replace('!', '')).match(path))?.startsWith('!') === false
      : new RegExp(regex, 'u').test(path);
  return (path) => patterns.some((pattern) => matches(pattern, `../${path}`));
}
