import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const RECORDS = join(ROOT, 'docs', 'decisions');

/** An entry of the lock file. */
interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

test('every package is pinned to one version and one content', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
  const { '': own, ...installed } = packages;
  const wanted = Object.entries({ ...own?.dependencies, ...own?.devDependencies });
  expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+$/u.test(version))).toEqual([]);
  // Without a checksum, npm installs whatever the registry sends.
  expect(Object.keys(installed).filter((path) => installed[path]?.integrity?.startsWith('sha512-') !== true)).toEqual([]);
  expect(Object.keys(installed).filter((path) => installed[path]?.resolved !== undefined)).toEqual([]);
});

test('every run-time dependency is named in a decision record', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const records = readdirSync(RECORDS).map((name) => readFileSync(join(RECORDS, name), 'utf8'));
  expect(Object.keys(dependencies).filter((name) => !records.some((text) => text.includes(`\`${name}\``)))).toEqual([]);
});
