/** Loaded into a gateway before all else: a disk that fails to keep what it was given for as long as the file named by `FAIL_SYNC` is there. */
import { mock } from 'bun:test';
import * as fs from 'node:fs';

const { fdatasync, existsSync } = fs;
const sign = process.env['FAIL_SYNC'] ?? '';

void mock.module('node:fs', () => ({
  ...fs,
  fdatasync: (file: number, done: (failure: Error | null) => void): void => {
    if (existsSync(sign)) done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    else fdatasync(file, done);
  },
}));
