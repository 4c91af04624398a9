import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { startReaper } from './reaper.ts';

const INSTALL_WITHIN_MS = 300_000;
const LOCK_WITHIN_SECONDS = 60;

interface SystemFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Keeps packages from starting their services when they are installed. */
const NO_SERVICES: SystemFile = { path: '/usr/sbin/policy-rc.d', text: '#!/bin/sh\nexit 101\n', mode: 0o755 };
/** Keeps the PostgreSQL package from creating a system-wide cluster. */
const NO_CLUSTER: SystemFile = {
  path: '/etc/postgresql-common/createcluster.d/no-main-cluster.conf',
  text: 'create_main_cluster = false\n',
  mode: 0o644,
};

/** Installs a Debian or Ubuntu package if we are root, as on a fresh CI machine. Returns true if it did. Starts no system service. */
export async function installPackage(name: string): Promise<boolean> {
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) return false;
  console.error(`Installing ${name} with apt-get for the tests; this is done once and may take a minute.`);
  const removals = await Promise.all((name === 'postgresql' ? [NO_SERVICES, NO_CLUSTER] : [NO_SERVICES]).map(place));
  try {
    // Fresh images have no package lists, and old lists name versions that no longer exist.
    const failure = (await aptGet('install', name)) && ((await aptGet('update')) ?? (await aptGet('install', name)));
    if (failure !== undefined) console.error(`Installing ${name} failed: ${failure}`);
    return failure === undefined;
  } finally {
    await Promise.all(removals.map((remove) => remove()));
  }
}

/** Writes a file and returns a function that removes it. It is removed even if this process is killed. An existing file is left alone. */
async function place({ path, text, mode }: SystemFile): Promise<() => Promise<void>> {
  if (existsSync(path)) return async () => {};
  const reaper = await startReaper({ path });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode });
  return () => reaper.finish();
}

/** Runs a command; returns its error, if any. */
async function aptGet(...args: readonly string[]): Promise<string | undefined> {
  const options = ['-qq', '-y', '--no-install-recommends', '-o', `DPkg::Lock::Timeout=${LOCK_WITHIN_SECONDS}`];
  const child = Bun.spawn(['apt-get', ...options, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: INSTALL_WITHIN_MS,
  });
  const errors = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? undefined : `${errors.trim().split('\n').at(-1) ?? ''} (apt-get ${args[0] ?? ''})`;
}
