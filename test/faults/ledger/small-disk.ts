import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../until.ts';

/** A data folder whose disk can be filled and emptied while a gateway uses it. */
export interface SmallDisk {
  /** How it is done, for the test output. */
  readonly kind: string;
  readonly folder: string;
  /** The command prefix to start the gateway with. */
  readonly wrapper: readonly string[];
  fill(pid: number): Promise<void>;
  empty(pid: number): Promise<void>;
  remove(): Promise<void>;
}

const DISK_BYTES = 16_000_000;
const PIECE_BYTES = 4096;

/** Mounts a small file system if allowed. Otherwise limits the size of the gateway's files, which needs no privileges. */
export async function makeSmallDisk(): Promise<SmallDisk> {
  const parent = await mkdtemp(join(tmpdir(), 'tollgate-disk-'));
  const folder = join(parent, 'data');
  await mkdir(folder, { mode: 0o700 });
  const isMounted = tryToRun('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder) === undefined;
  const remove = async (): Promise<void> => {
    // A process that has just exited may hold its files a moment longer.
    if (isMounted) await until(() => tryToRun('umount', folder) === undefined);
    await rm(parent, { recursive: true, force: true });
  };
  return isMounted ? { ...fullFileSystem(folder), remove } : { ...limitedFiles(folder), remove };
}

function fullFileSystem(folder: string): Omit<SmallDisk, 'remove'> {
  const ballast = join(folder, 'ballast');
  return {
    kind: 'a file system without space (ENOSPC)',
    folder,
    wrapper: [],
    fill: async () => writeUntilFull(ballast),
    empty: () => rm(ballast),
  };
}

/** The signal that comes with the error ends a program by default. A signal ignored at startup stays ignored. */
function limitedFiles(folder: string): Omit<SmallDisk, 'remove'> {
  return {
    kind: 'a limit on the size of files (EFBIG)',
    folder,
    wrapper: ['sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh'],
    fill: async (pid) => {
      const largest = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
      run('prlimit', '--pid', String(pid), `--fsize=${largest}:unlimited`);
    },
    empty: async (pid) => run('prlimit', '--pid', String(pid), '--fsize=unlimited:unlimited'),
  };
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'w');
  const piece = new Uint8Array(PIECE_BYTES);
  try {
    for (let written = 0; written <= DISK_BYTES; written += PIECE_BYTES) writeSync(file, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

function run(program: string, ...args: readonly string[]): void {
  const failure = tryToRun(program, ...args);
  if (failure !== undefined) throw new Error(`${program} ${args.join(' ')} failed: ${failure}`);
}

/** Returns the error output if the program failed. */
function tryToRun(program: string, ...args: readonly string[]): string | undefined {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? undefined : stderr;
}
