import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../services/built.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-which-'));
  writeFileSync(join(folder, 'tollgate.yaml'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(command: string, variables: Readonly<Record<string, string>>): Promise<unknown> {
  const settings = { TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'), HOME: folder, ...variables };
  const child = Bun.spawn([process.execPath, MAIN, ...command.split(' ')], { cwd: PROJECT, env: settings, stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const NEED_A_DATABASE = [
  'account show --email a@example.com',
  'key list --account a@example.com',
  'ledger verify',
  'ledger show --account a@example.com',
  'usage export',
  'promo list',
  'plan list',
  'payments list --problems',
  'backup --to copy.db',
  'provider list',
  'provider disable sandbox',
  'account invite --operator',
  'promo create --credit 5',
  'plan create --id a --name A --price-usd 1 --included-usd 1',
];

test.each(NEED_A_DATABASE)('%s fails where there is no database, and creates none', async (command) => {
  const elsewhere = join(folder, 'elsewhere');
  const stderr = `There is no database at ${elsewhere}/tollgate.db. Is TOLLGATE_DATA set as for the server?\n`;
  expect(await run(command, { TOLLGATE_DATA: elsewhere })).toEqual({ code: 1, stdout: '', stderr });
  expect(existsSync(elsewhere)).toBe(false);
});

test('a database that cannot be read is not called missing', async () => {
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  const stderr = `${loop}/tollgate.db cannot be read (ELOOP). Run the command as the user of the server.\n`;
  expect(await run('ledger verify', { TOLLGATE_DATA: loop })).toEqual({ code: 1, stdout: '', stderr });
});

test('a backup to a folder that cannot be written says so', async () => {
  const data = { TOLLGATE_DATA: join(folder, 'data') };
  expect(await run('account create --email a@example.com', data)).toMatchObject({ code: 0 });
  const stderr = expect.stringMatching(
    /^\/proc\/copy\.db cannot be created \(E[A-Z]+\)\. Name a file in a folder that this user may write to\.\n$/u,
  );
  expect(await run('backup --to /proc/copy.db', data)).toEqual({ code: 1, stdout: '', stderr });
});

test.each(['prefer', 'require', 'verify-ca'])('the PostgreSQL driver prints no warning about sslmode=%s', async (mode) => {
  const stderr = expect.stringMatching(/^PostgreSQL cannot be used: connect ECONNREFUSED .*\n$/u);
  const ended = await run('account show --email a@example.com', { DATABASE_URL: `postgres://127.0.0.1:1/a?sslmode=${mode}` });
  expect(ended).toEqual({ code: 1, stdout: '', stderr });
});
