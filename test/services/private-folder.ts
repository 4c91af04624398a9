import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from './reaper.ts';

/** A temporary folder and the programs that run in it. Both are gone at the latest when this process ends. */
export interface PrivateFolder {
  readonly path: string;
  /** Writes a file that only the programs can read, and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** Runs a program to its end. Throws with its output unless it succeeded. */
  run(command: Command): Promise<void>;
  /** Starts a server and waits until it responds. Throws with its output if it does not. */
  start(command: Command, answers: () => Promise<boolean>): Promise<PrivateProcess>;
  /** Stops all programs and removes the folder. */
  remove(): Promise<void>;
}

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** A started program. */
export interface PrivateProcess {
  readonly pid: number;
  /** Its exit code; null if a signal ended it. */
  readonly exited: Promise<number | null>;
  hasExited(): boolean;
}

const WITHIN_MS = 30_000;
const POLL_MS = 10;
const LAST_WORDS_LENGTH_MAX = 2000;

/** Creates a folder. `stopSignal` is the signal that makes its programs stop at once without saving anything. */
export async function makePrivateFolder({ name, stopSignal }: { name: string; stopSignal: NodeJS.Signals }): Promise<PrivateFolder> {
  const path = await mkdtemp(join(tmpdir(), `tollgate-${name}-`));
  const reaper = await startReaper({ path, stopSignal });
  const owner = findUnprivilegedUser();
  const giveAway = async (target: string): Promise<string> => {
    if (owner !== undefined) await chown(target, owner.uid, owner.gid);
    return target;
  };
  await giveAway(path);

  const logPath = join(path, 'log');
  const lastOutput = (): string => readFileSync(logPath, 'utf8').slice(-LAST_WORDS_LENGTH_MAX);
  const launch = ([program, ...args]: Command, timeoutMs?: number): PrivateProcess => {
    const log = openSync(logPath, 'a', 0o600);
    const env = { PATH: process.env['PATH'] ?? '', HOME: path, LC_ALL: 'C' };
    // In its own session it does not receive our Ctrl-C: the reaper stops it properly.
    const child = spawn(program, args, { ...owner, cwd: path, env, detached: true, timeout: timeoutMs, stdio: ['ignore', log, log] });
    closeSync(log);
    const { pid } = child;
    if (pid === undefined) throw new Error(`${program} could not be started.`);
    reaper.watch(pid);
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        reaper.forget(pid);
        resolve(code);
      });
    });
    return { pid, exited, hasExited: () => child.exitCode !== null || child.signalCode !== null };
  };
  return {
    path,
    async write(file, text) {
      const target = join(path, file);
      await writeFile(target, text, { mode: 0o600 });
      return await giveAway(target);
    },
    async run(command) {
      const code = await launch(command, WITHIN_MS).exited;
      if (code !== 0) throw new Error(`${command[0]} failed:\n${lastOutput()}`);
    },
    async start(command, answers) {
      const launched = launch(command);
      const deadlineMs = performance.now() + WITHIN_MS;
      while (!(await answers())) {
        if (launched.hasExited() || performance.now() > deadlineMs) throw new Error(`${command[0]} does not respond:\n${lastOutput()}`);
        await Bun.sleep(POLL_MS);
      }
      return launched;
    },
    remove: () => reaper.finish(),
  };
}

/** The user that programs run as if we are root: PostgreSQL refuses to run as root, and no other service needs it. */
function findUnprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined) throw new Error('Services do not run as root, and there is no user postgres or nobody to run them as.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}
