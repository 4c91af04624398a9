import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAudit } from '../../src/accounts/audit.ts';
import { buildCommandLine } from '../../src/commands/command-line.ts';
import { connect } from '../../src/database/connect.ts';
import { MAIN } from '../services/built.ts';
import type { JsonObject } from '../simulator/wire.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const EMAIL = 'owner@example.com';
const OWNER = ['--email', EMAIL];
const ACCOUNT = ['--account', EMAIL];

let folder: string;
let env: Record<string, string>;
let keyId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-commands-'));
  const settings = join(folder, 'tollgate.yaml');
  await writeFile(settings, '');
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: settings,
    PORT: '0',
    NO_COLOR: '1',
  };
  await runJson('account', 'create', ...OWNER);
  keyId = String((await runJson('key', 'create', ...ACCOUNT, '--name', 'first'))['id']);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: PROJECT,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => Array.fromAsync(stream as AsyncIterable<Buffer>));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat((await stdout) ?? []).toString(), stderr: Buffer.concat((await stderr) ?? []).toString() };
}

/** Runs a command with `--json` and expects one line with one object, and nothing else. */
async function runJson(...args: readonly string[]): Promise<JsonObject> {
  const { code, stdout, stderr } = await run([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\{.*\}\n$/u);
  return JSON.parse(stdout) as JsonObject;
}

const program = await buildCommandLine();

describe('--help', () => {
  const groups = [program, ...program.commands];

  test.each(groups.map((group) => [group === program ? '' : group.name(), group.commands] as const))(
    'explains `%s` and every subcommand',
    async (name, members) => {
      const data = join(folder, 'untouched');
      const { code, stdout, stderr } = await run([...(name === '' ? [] : [name]), '--help'], { TOLLGATE_DATA: data });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toStartWith(`Usage: ${`tollgate ${name}`.trim()}`);
      expect(stdout).toContain('--help');
      for (const member of members) expect(stdout).toMatch(new RegExp(`^  ${member.name()} .*\\s{2}\\S`, 'mu'));
      expect(existsSync(data)).toBe(false);
    },
  );
});

test('--version prints the version', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u), stderr: '' });
});

test('backup writes a complete copy that only its owner can read, and overwrites no file', async () => {
  const file = join(folder, 'copy.db');
  const made = await runJson('backup', '--to', file);
  expect(made).toMatchObject({ file });
  const { kysely } = await connect({ databaseUrl: undefined, databasePath: join(folder, 'data', 'tollgate.db') });
  expect(await readAudit(kysely, file, 5)).toMatchObject([{ action: 'backup', changes: [{ field: 'bytes', after: made['bytes'] }] }]);
  await kysely.destroy();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const restored = join(folder, 'restored');
  await mkdir(restored);
  await copyFile(file, join(restored, 'tollgate.db'));
  expect(await run(['account', 'show', ...OWNER], { TOLLGATE_DATA: restored })).toMatchObject({ code: 0, stderr: '' });
  const again = await run(['backup', '--to', file]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('already exists');
});

test('promo list names the campaign of a code that has one', async () => {
  const alone = await runJson('promo', 'create', '--credit', '5', '--code', 'WELCOME');
  const together = await runJson('promo', 'create', '--credit', '5', '--code', 'AUTUMN', '--campaign', 'leaves');
  const { stdout } = await run(['promo', 'list']);
  expect(stdout).toContain(`${idOf(alone)}  WELC…          $5  used 0 of 1\n`);
  expect(stdout).toContain(`${idOf(together)}  AUTU…  leaves  $5  used 0 of 1\n`);
});

function idOf(made: JsonObject): string {
  const [code] = made['codes'] as readonly { id: string }[];
  return code?.id ?? '';
}

test.each([
  ['an invalid address', { HOST: '999.1.1.1' }, 'Cannot listen on 999.1.1.1, port 0. HOST must be an address of this machine'],
  ['an address of another machine', { HOST: '192.0.2.1' }, 'Cannot listen on 192.0.2.1, port 0. HOST must be an address of this machine'],
])('serve explains why it cannot listen on %s', async (_, variables, message) => {
  const { code, stdout, stderr } = await run(['serve'], { ...variables, TOLLGATE_DATA: join(folder, 'deaf') });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
});

test('serve reports that its port is taken', async () => {
  using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const { code, stderr } = await run(['serve'], { PORT: String(other.port), TOLLGATE_DATA: join(folder, 'deaf') });
  expect(code).toBe(1);
  expect(stderr).toContain(`Cannot listen on 127.0.0.1, port ${other.port}. Something else listens there`);
});

describe('bad input gives exit code 1, a message on standard error and nothing on standard output', () => {
  const credit = ['account', 'credit', ...OWNER];
  const key = ['key', 'create', ...ACCOUNT, '--name', 'a'];
  test.each<[readonly string[], RegExp]>([
    [[], /Usage: tollgate/u],
    [['fly'], /unknown command 'fly'/u],
    [['account'], /Usage: tollgate account/u],
    [['serve', '--fast'], /unknown option '--fast'/u],
    [['serve', 'now'], /too many arguments/u],
    [['account', 'create'], /--email <address>' not specified/u],
    [['account', 'create', '--email', 'nobody'], /"nobody" is not an email address/u],
    [['account', 'create', ...OWNER], /The account owner@example\.com already exists/u],
    [['account', 'create', '--email', EMAIL.toUpperCase()], /The account owner@example\.com already exists/u],
    [['account', 'create', '--email', 'new@example.com', '--credit', 'lots'], /"lots" is not an amount in USD/u],
    [['account', 'create', '--email', 'new@example.com', '--credit', '-1'], /initial credit cannot be negative/u],
    [['account', 'show', '--email', 'new@example.com'], /There is no account new@example\.com.*account create/u],
    [[...credit, '--usd', '1'], /--reason <text>' not specified/u],
    [[...credit, '--usd', '0.0000000001', '--reason', 'a'], /at most nine decimals/u],
    [[...credit, '--usd', '0', '--reason', 'a'], /An amount of 0 changes nothing/u],
    [[...credit, '--usd', '1', '--reason', ' '], /The reason must not be empty/u],
    [[...credit, '--usd', '-1', '--reason', 'a', '--expires', '2999-01-01'], /--expires applies only to credit that is added/u],
    [[...key, '--budget-period', 'week'], /add --budget-usd/u],
    [[...key, '--expires', '2030-02-31'], /"2030-02-31" is not a time/u],
    [['key', 'update', 'key_none'], /Nothing to change/u],
    [['key', 'create', '--account', 'new@example.com', '--name', 'a'], /There is no account new@example\.com/u],
    [['key', 'create', ...ACCOUNT], /--name <name>' not specified/u],
    [[...key, '--rpm', '0'], /--rpm: "0" is not a whole number above zero/u],
    [
      [...key, '--models', 'sandbox/echo,sandbox/eco'],
      /Unknown model sandbox\/eco\. Did you mean sandbox\/echo\? List the models with: models list --all\n/u,
    ],
    [[...key, '--models', ' , '], /--models: Name at least one/u],
    [[...key, '--at-limit', 'never'], /--at-limit: must be stop or slow-down/u],
    [[...key, '--limit-zone', '+02:00'], /--limit-zone: "\+02:00" is not the name of a time zone such as Europe\/Berlin/u],
    [[...key, '--expires', '2020-01-31'], /"2020-01-31" is in the past/u],
    [['key', 'list'], /--account <email>' not specified/u],
    [['payments', 'list', ...ACCOUNT, '--problems'], /--problems lists those of all accounts: leave out --account/u],
    [['promo', 'create'], /Give exactly one of --credit, --plan and --bonus-percent/u],
    [['promo', 'create', '--credit', '5', '--plan', 'a'], /Give exactly one of --credit, --plan and --bonus-percent/u],
    [['backup', '--to', '/nowhere/copy.db'], /There is no folder \/nowhere\. Create it/u],
    [['usage', 'export', '--from', '2026-12-02', '--to', '2026-12-01'], /--from must be before --to/u],
    [['usage', 'export', '--from', '2999-01-01'], /--from must be before --to, which defaults to now/u],
    [['key', 'rotate'], /missing required argument 'id'/u],
    [['key', 'rotate', 'key_none'], /There is no key key_none.*key list/u],
    [['key', 'rotate', 'key_none', '--overlap', 'soon'], /"soon" is not a duration such as/u],
    [['provider', 'enable', 'opnai'], /There is no provider opnai, or it is off/u],
    [['promo', 'create', '--credit', '5', '--csv', '/nowhere/codes.csv'], /--csv: the file cannot be created/u],
    [['key', 'delete', 'key_none'], /There is no key key_none/u],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('    at ');
  });

  test('failures go to standard error with --json too', async () => {
    const { code, stdout, stderr } = await run(['key', 'delete', 'key_none', '--json']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/There is no key key_none/u);
  });

  test.each(['serve', `key list --account ${EMAIL}`])('invalid settings: %s', async (command) => {
    const { code, stdout, stderr } = await run(command.split(' '), { PORT: 'http' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toStartWith('The settings have a mistake:\n  - environment variable PORT: ');
  });
});

describe('--json prints one JSON object', () => {
  const shape = { id: expect.stringMatching(/^acct_/u), email: EMAIL, status: 'active', admin: false, created_at: expect.any(String) };

  test('account create, with decimal amounts as strings', async () => {
    const made = await runJson('account', 'create', '--email', 'New@Example.com', '--credit', '12.50', '--admin');
    expect(made).toMatchObject({ email: 'new@example.com', admin: true, balance: '12.5', available: '12.5', held: '0' });
  });

  test('account credit, show, suspend and resume', async () => {
    const money = { balance: '0.000000003', available: '0.000000003', held: '0' };
    expect(await runJson('account', 'credit', ...OWNER, '--usd', '0.000000003', '--reason', 'a "quoted"\nreason')).toMatchObject({
      ...shape,
      ...money,
    });
    expect(await runJson('account', 'show', ...OWNER)).toMatchObject({ ...shape, ...money });
    expect(await runJson('account', 'suspend', ...OWNER, '--reason', 'a leak')).toMatchObject({ ...shape, status: 'suspended' });
    expect(await runJson('account', 'resume', ...OWNER)).toMatchObject(shape);
    expect(readEntries('account.%')).toEqual([
      [
        'command line',
        'account.suspend',
        '{"changes":[{"field":"status","before":"active","after":"suspended"},{"field":"reason","before":null,"after":"a leak"}]}',
      ],
      ['command line', 'account.resume', '{"changes":[{"field":"status","before":"suspended","after":"active"}]}'],
    ]);
    expect(await runJson('account', 'credit', ...OWNER, '--usd', '-0.000000003', '--reason', 'back')).toMatchObject({ balance: '0' });
  });

  test('account operator, which keeps the last operator, and end-sessions', async () => {
    const other = ['--email', 'new@example.com'];
    expect(await runJson('account', 'operator', ...OWNER)).toMatchObject({ email: EMAIL, admin: true });
    expect(await runJson('account', 'operator', ...other, '--remove')).toMatchObject({ admin: false });
    const { code, stderr } = await run(['account', 'operator', ...OWNER, '--remove']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('owner@example.com is the only operator.') as string });
    expect(await runJson('account', 'operator', ...other)).toMatchObject({ admin: true });
    expect(await runJson('account', 'operator', ...OWNER, '--remove')).toMatchObject({ admin: false });
    expect(readEntries('account.operator')).toHaveLength(4);
    expect(await runJson('account', 'end-sessions', ...OWNER)).toEqual({ email: EMAIL, ended: 0 });
  });

  test('key create and key rotate, with the secret', async () => {
    const made = await runJson('key', 'create', ...ACCOUNT, '--name', 'second');
    const rotated = await runJson('key', 'rotate', String(made['id']), '--overlap', '24h');
    expect(rotated['id']).toBe(made['id']);
    for (const { secret, prefix, last_four: lastFour } of [made, rotated]) {
      expect(secret).toMatch(/^sk-tg-[0-9A-Za-z]{49}$/u);
      expect(String(secret).startsWith(String(prefix)) && String(secret).endsWith(String(lastFour))).toBe(true);
    }
  });

  test('key list, with the settings and without the secret', async () => {
    const flags = ['--models', 'sandbox/echo, sandbox/story', '--rpm', '1', '--tpm', '2', '--concurrent', '3', '--expires', '2099-01-31'];
    const limits = ['--budget-usd', '5', '--budget-period', 'day', '--at-limit', 'slow-down', '--limit-zone', 'Europe/Berlin'];
    const { id, secret } = await runJson('key', 'create', ...ACCOUNT, '--name', 'third', ...flags, ...limits);
    const listed = (await runJson('key', 'list', ...ACCOUNT)) as { keys: JsonObject[] };
    expect(listed.keys.map((key) => key['name'])).toEqual(['first', 'second', 'third']);
    expect(listed.keys.at(-1)).toMatchObject({
      id: String(id),
      models: ['sandbox/echo', 'sandbox/story'],
      requests_per_minute: 1,
      tokens_per_minute: 2,
      concurrent: 3,
      at_limit: 'slow_down',
      limit_zone: 'Europe/Berlin',
      budgets: [{ period: 'day', usd: '5', spent: '0', held: '0', free: expect.stringMatching(/^4(\.\d+)?$/u) }],
      expires_at: '2099-01-31T00:00:00.000Z',
    });
    expect(JSON.stringify(listed)).not.toContain(String(secret));
    expect(listed.keys[0]).toMatchObject({ id: keyId, models: null, requests_per_minute: null, expires_at: null });
  });

  test('key delete', async () => {
    const { id } = await runJson('key', 'create', ...ACCOUNT, '--name', 'short');
    expect(await runJson('key', 'delete', String(id))).toEqual({ id, deleted: true });
    expect((await run(['key', 'delete', String(id)])).code).toBe(1);
  });

  test('models list, of callable models or of all', async () => {
    const served = (await runJson('models', 'list')) as { models: JsonObject[] };
    expect(served.models.map((model) => model['id'])).toEqual(['sandbox/echo', 'sandbox/story', 'sandbox/hello']);
    const all = (await runJson('models', 'list', '--all')) as { models: JsonObject[] };
    expect(all.models.length).toBeGreaterThan(60);
    expect(all.models[0]).toMatchObject({ object: 'model', pricing: expect.any(Object) });
  });

  test('migrate', async () => {
    expect(await runJson('migrate')).toEqual({ migrations: [] });
  });
});

describe('without --json, commands print lines for people', () => {
  test('with the secret of a new key, and the advice to store it', async () => {
    const { stdout } = await run(['key', 'create', ...ACCOUNT, '--name', 'shown']);
    expect(stdout).toMatch(/^key_\S+ \(shown\)\nsk-tg-\S+\nStore the secret now: it is not shown again\.\n$/u);
  });

  test('with the first and last characters of the secrets in the list', async () => {
    const { stdout } = await run(['key', 'list', ...ACCOUNT]);
    expect(stdout).toMatch(/^key_\S+ {2}first {3}sk-tg-\w{4}…\w{4}$/mu);
    expect(stdout).not.toMatch(/sk-tg-\w{5}/u);
  });

  test('with the balance of an account', async () => {
    const { stdout } = await run(['account', 'show', ...OWNER]);
    expect(stdout).toBe(`${EMAIL}, active\nbalance $0, of which $0 available and $0 held for running requests\n`);
  });

  test('with the migrations that ran', async () => {
    const fresh = { TOLLGATE_DATA: join(folder, 'fresh') };
    expect((await run(['migrate'], fresh)).stdout).toMatch(/^Ran 001-initial/u);
    expect((await run(['migrate'], fresh)).stdout).toBe('The schema is up to date.\n');
  });
});

function readEntries(actions: string): unknown[] {
  const database = new Database(join(folder, 'data', 'tollgate.db'), { readonly: true });
  const rows = database.query('SELECT actor, action, detail FROM audit WHERE action LIKE ? ORDER BY created_at, id').values(actions);
  database.close();
  return rows;
}
