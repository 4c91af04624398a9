import { stat } from 'node:fs/promises';
import { every, type Clock } from '../turns.ts';
import type { GroupCommitLedger } from './group-commit.ts';

const INTERVAL_MS = 5000;

/** Receives what happens to the files. */
export interface FileReports {
  onGone(): void;
  onBack(): void;
  onFailure(error: unknown): void;
}

/**
 * Has the ledger refuse new requests while the files of the embedded database are not the ones that this process has open. If somebody
 * moved, deleted or replaced them, the next start would find nothing of what is written from then on.
 */
export async function watchFiles(path: string, ledger: GroupCommitLedger, reports: FileReports): Promise<Clock> {
  const paths = [path, `${path}-wal`];
  const opened = await identify(paths);
  let areInPlace = true;
  const look = async (): Promise<void> => {
    const wereInPlace = areInPlace;
    areInPlace = (await identify(paths)) === opened;
    if (areInPlace === wereInPlace) return;
    ledger.suspend(areInPlace ? undefined : new Error('the files of the database are gone'));
    if (areInPlace) reports.onBack();
    else reports.onGone();
  };
  return every(INTERVAL_MS, look, (error) => reports.onFailure(error));
}

/** Returns what tells these files from all others, whatever their names. */
async function identify(paths: readonly string[]): Promise<string> {
  const files = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(undefinedIfMissing)));
  return files.map((file) => `${file?.dev}:${file?.ino}`).join(' ');
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
