import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carried } from '../../src/carried/carried.ts';
import { CarriedMemory } from '../../src/carried/memory.ts';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createMigratedDatabase, postgresUrl } from '../services/postgres.ts';
import { until } from '../until.ts';

const DAY_MS = 86_400_000;

interface Place {
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
  remove(): Promise<void>;
}

async function makeFolder(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
  return { databaseUrl: undefined, databasePath: join(folder, 'tollgate.db'), remove: () => rm(folder, { recursive: true }) };
}

async function makePostgres(): Promise<Place> {
  const database = await createMigratedDatabase();
  return { databaseUrl: database.url, databasePath: '', remove: () => database.drop() };
}

describe.each([
  ['the embedded database', makeFolder, false],
  ['PostgreSQL', makePostgres, postgresUrl === undefined],
] as const)('data carried for providers, on %s', (name, makePlace, isSkipped) => {
  describe.skipIf(isSkipped)('', () => {
    let place: Place;
    let database: OpenDatabase;
    const failures: string[] = [];
    const open = (): Carried => new Carried(database, (event) => failures.push(event));

    beforeAll(async () => {
      place = await makePlace();
      database = await connect(place);
      await migrate(database.kysely, database.dialect);
    }, 120_000);
    afterAll(async () => {
      expect(failures).toEqual([]);
      await database.kysely.destroy();
      await place.remove();
    }, 120_000);

    test('can be recalled at once, and by other nodes as soon as it is written', async () => {
      const [one, other] = [open(), open()];
      one.keep('acct_1', new Map([['call_1', 'a']]));
      expect([...(await one.recall('acct_1', [['call_1', 'call_2']]))]).toEqual([['call_1', 'a']]);
      await one.close();
      expect([...(await other.recall('acct_1', [['call_1', 'call_2'], ['call_3']]))]).toEqual([['call_1', 'a']]);
      expect([...(await other.recall('acct_2', [['call_1']]))]).toEqual([]);
    });

    test('is stored despite an id in the same batch that no database can hold', async () => {
      const [one, other] = [open(), open()];
      one.keep(
        'acct_odd',
        new Map([
          ['call\u0000', 'a'],
          ['call_fine', 'b'],
        ]),
      );
      await one.close();
      expect([...(await other.recall('acct_odd', [['call\u0000'], ['call_fine']]))]).toEqual([['call_fine', 'b']]);
    });

    test(`is written ${name === 'PostgreSQL' ? 'right away' : 'once a second'}`, async () => {
      const written = database.kysely.selectFrom('carried').selectAll().where('account_id', '=', 'acct_soon');
      open().keep('acct_soon', new Map([['call_1', 'a']]));
      if (name !== 'PostgreSQL') expect(await written.execute()).toEqual([]);
      await until(async () => (await written.execute()).length === 1, name === 'PostgreSQL' ? 900 : 10_000);
    });

    test('is the latest value, even when both are written together', async () => {
      const carried = open();
      carried.keep('acct_1', new Map([['call_twice', 'old']]));
      carried.keep('acct_1', new Map([['call_twice', 'new']]));
      await carried.close();
      expect((await open().recall('acct_1', [['call_twice']])).get('call_twice')).toBe('new');
    });

    test('may be any text, and as many values as there are', async () => {
      const carried = open();
      const values = new Map(
        Array.from({ length: 2500 }, (_, index) => [`call_${index}`, JSON.stringify({ text: `☕ "${index}" \u0000` })]),
      );
      carried.keep('acct_many', values);
      await carried.close();
      const found = await open().recall(
        'acct_many',
        [...values.keys()].slice(-1000).map((id) => [id]),
      );
      expect(found.size).toBe(1000);
      expect(found.get('call_2499')).toBe(values.get('call_2499') ?? '');
    });

    test('is deleted after a day', async () => {
      const row = { account_id: 'acct_old', tool_call_id: 'call_1', value: 'a', created_at: Date.now() - DAY_MS - 1000 };
      await database.kysely.insertInto('carried').values(row).execute();
      expect((await open().recall('acct_old', [['call_1']])).size).toBe(0);
      expect(await open().prune(Date.now())).toBe(1);
      expect(await open().prune(Date.now())).toBe(0);
    });
  });
});

test('a database failure is reported once, and fails no request', async () => {
  const place = await makeFolder();
  const database = await connect(place);
  const failures: string[] = [];
  const carried = new Carried(database, (event) => failures.push(event));
  expect((await carried.recall('acct_1', [['call_1']])).size).toBe(0);
  expect((await carried.recall('acct_1', [['call_1']])).size).toBe(0);
  carried.keep('acct_1', new Map([['call_1', 'a']]));
  expect((await carried.recall('acct_1', [['call_1']])).size).toBe(1);
  await carried.close();
  expect(failures).toEqual(['data kept for providers could not be read', 'data kept for providers could not be written']);
  await database.kysely.destroy();
  await place.remove();
});

describe('the memory of carried data', () => {
  test('drops the entry longest unused when it has too many entries', () => {
    const memory = new CarriedMemory();
    for (let index = 0; index < 50_000; index += 1) memory.set(`key ${index}`, { value: 'a', keptAtMs: 0 });
    expect(memory.get('key 0')).toBeDefined();
    memory.set('one more', { value: 'a', keptAtMs: 0 });
    expect(memory.get('key 0')).toBeDefined();
    expect(memory.get('key 1')).toBeUndefined();
  });

  test('drops entries when it has too many bytes', () => {
    const memory = new CarriedMemory();
    const value = 'a'.repeat(1_000_000);
    for (let index = 0; index < 20; index += 1) memory.set(`key ${index}`, { value, keptAtMs: 0 });
    const left = Array.from({ length: 20 }, (_, index) => memory.get(`key ${index}`) !== undefined);
    expect(left.filter(Boolean)).toHaveLength(16);
    expect(left[3]).toBe(false);
  });
});
