/** Preloaded into a gateway: makes fdatasync fail for as long as the file named by `FAIL_SYNC` exists. */
import { mock } from 'bun:test';
import * as fs from 'node:fs';

const { fdatasync, existsSync } = fs;
const trigger = process.env['FAIL_SYNC'] ?? '';

void mock.module('node:fs', () => ({
  ...fs,
  fdatasync: (file: number, done: (failure: Error | null) => void): void => {
    if (existsSync(trigger)) done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    else fdatasync(file, done);
  },
}));
