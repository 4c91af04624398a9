import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { backupSqlite, LOCK_FILE, lockDataFolder, openSqlite } from '../../src/database/sqlite.ts';
import { until } from '../until.ts';

const WHAT_TO_DO =
  'The user running Tollgate must own the folder and its files, on a writable disk with free space. To use another folder, set TOLLGATE_DATA.';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-open-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a damaged database is named, with the reason and what to do', () => {
  const path = join(folder, 'tollgate.db');
  const advice = 'The file is damaged: keep a copy of it, and restore a backup.';
  writeFileSync(path, 'This is a note, and longer than the hundred bytes at the head of a database, which is why it is so wordy.');
  expect(() => openSqlite(path)).toThrow(`${path} cannot be opened: file is not a database. ${advice}`);
  rmSync(path);
  const database = new Database(path);
  database.run('CREATE TABLE t (a)');
  database.close();
  const bytes = readFileSync(path).fill(0xff, 100);
  writeFileSync(path, bytes);
  expect(() => openSqlite(path)).toThrow(`${path} cannot be opened: database disk image is malformed. ${advice}`);
});

test('a folder that cannot be created is named as well', () => {
  const file = join(folder, 'data');
  writeFileSync(file, '');
  for (const open of [() => openSqlite(join(file, 'tollgate.db')), () => lockDataFolder(file)])
    expect(open).toThrow(new RegExp(`^${file}/\\S+ cannot be opened: EEXIST: .*${WHAT_TO_DO}$`, 'u'));
});

test('new databases and copies get small pages, existing databases keep their page size', () => {
  const [created, old, copy] = ['new.db', 'old.db', 'copy.db'].map((name) => join(folder, name)) as [string, string, string];
  openSqlite(created).run('CREATE TABLE t (a)');
  expect(pageBytes(created)).toEqual([[2048]]);
  new Database(old).run('CREATE TABLE t (a)');
  openSqlite(old).run('INSERT INTO t VALUES (1)');
  expect(pageBytes(old)).toEqual([[4096]]);
  backupSqlite(old, copy);
  expect(pageBytes(copy)).toEqual([[2048]]);
});

test('a backup that fails leaves nothing that looks like one', () => {
  const [path, copy] = [join(folder, 'tollgate.db'), join(folder, 'copy.db')];
  writeFileSync(path, 'This is a note, and longer than the hundred bytes at the head of a database, which is why it is so wordy.');
  expect(() => backupSqlite(path, copy)).toThrow('cannot be opened');
  expect(readdirSync(folder)).toEqual(['tollgate.db']);
});

test('a killed backup leaves no file under its final name, and the next backup succeeds', async () => {
  const [path, copy] = [join(folder, 'tollgate.db'), join(folder, 'copy.db')];
  const database = openSqlite(path);
  database.run('CREATE TABLE t (a)');
  database.run(
    'INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT randomblob(1000000) FROM n',
  );
  database.close();
  const module = resolve(import.meta.dirname, '../../src/database/sqlite.ts');
  const script = `import { backupSqlite } from '${module}'; backupSqlite('${path}', '${copy}');`;
  const backup = Bun.spawn([process.execPath, '-e', script]);
  await until(() => readdirSync(folder).some((name) => name.startsWith('copy.db')));
  backup.kill('SIGKILL');
  await backup.exited;
  // On a busy machine the signal may arrive too late.
  expect(existsSync(copy)).toBe(backup.exitCode === 0);
  backupSqlite(path, copy);
  expect(statSync(copy).size).toBeGreaterThan(100_000_000);
  expect(existsSync(`${copy}.partial`)).toBe(false);
});

test('a broken lock file is not mistaken for another server', () => {
  writeFileSync(join(folder, LOCK_FILE), 'Left behind by a full disk. '.repeat(5));
  expect(() => lockDataFolder(folder)).toThrow(`${join(folder, LOCK_FILE)} cannot be opened: file is not a database.`);
});

test('another server is recognised by its lock', () => {
  const lock = lockDataFolder(folder);
  expect(lock).toBeDefined();
  expect(lockDataFolder(folder)).toBeUndefined();
  lock?.unlock();
  lockDataFolder(folder)?.unlock();
});

function pageBytes(path: string): unknown {
  return new Database(path).query('PRAGMA page_size').values();
}
