import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackage } from './install.ts';

/** A program that tests need, and where to find it. */
export interface WantedProgram {
  /** Display name. */
  readonly title: string;
  readonly names: readonly string[];
  /** Folders to search in addition to `PATH`, as patterns. The highest matching version comes first. */
  readonly folders: readonly string[];
  readonly debianPackage: string;
  /** The environment variable that can be set instead. */
  readonly variable: string;
  readonly isFit?: (path: string) => boolean;
}

/** Finds a program, or installs it if possible. Otherwise warns that its tests are skipped. */
export async function findProgram(wanted: WantedProgram): Promise<string | undefined> {
  const path = locate(wanted) ?? ((await installPackage(wanted.debianPackage)) ? locate(wanted) : undefined);
  if (path === undefined) console.error(`\n!!! SKIPPED: ${describeMissing(wanted)}; see CONTRIBUTING.md.\n`);
  return path;
}

function describeMissing({ title, variable }: WantedProgram): string {
  // The configured server cannot be used by tests that start, kill and freeze their own.
  if (process.env[variable] !== undefined) return `tests that need a ${title} of their own, since it is not on this machine. Install it`;
  return `all tests that need ${title}, since it is not on this machine. Install it or set ${variable}`;
}

function locate({ names, folders, isFit = () => true }: WantedProgram): string | undefined {
  const byVersion = new Intl.Collator('en', { numeric: true });
  const others = folders.flatMap((pattern) => globSync(pattern).toSorted((left, right) => byVersion.compare(right, left)));
  const places = [...(process.env['PATH'] ?? '').split(delimiter), ...others];
  return places.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path) && isFit(path));
}
