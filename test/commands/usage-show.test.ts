import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';
import { createMigratedDatabase, postgresUrl, type TestDatabase } from '../services/postgres.ts';
import { describeModel, startGate, type Gate } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';
import { useDatabase } from '../simulator/payer.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { until } from '../until.ts';
import { runCommand, variablesOf, type Ended } from './run-command.ts';

const EMAIL = 'owner@example.com';
const UNKNOWN = 'req_0mwl93ncbcad1eab208b5b9f4b870';
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const OVERLOADED = { type: 'status', status: 503, body: { error: { message: 'overloaded' } } } as const;

/** The model has two routes, so that the first one can fail and the second one answer. */
const MODEL = {
  ...describeModel('mock/pair', 'mock', { input: 2.5, cached_input: 1.25, output: 10 }),
  routes: [
    { provider: 'mock', model: 'first' },
    { provider: 'mock', model: 'second' },
  ],
};

describe.each(['SQLite', 'PostgreSQL'])('usage show, with %s', (store) => {
  const skipped = store === 'PostgreSQL' && postgresUrl === undefined;
  let simulator: OpenAiSimulator;
  let gate: Gate;
  let variables: Record<string, string>;
  let postgres: TestDatabase | undefined;
  let key: JsonObject;

  beforeAll(async () => {
    if (skipped) return;
    postgres = store === 'PostgreSQL' ? await createMigratedDatabase() : undefined;
    const env: Record<string, string> = postgres === undefined ? {} : { DATABASE_URL: postgres.url };
    simulator = await startOpenAiSimulator();
    gate = await startGate({ simulator, models: [MODEL], env });
    variables = { ...variablesOf(gate), ...env };
    await gate.run('account', 'create', '--email', EMAIL, '--credit', '1');
    key = await gate.run('key', 'create', '--account', EMAIL, '--name', '首席 ci');
  }, 120_000);
  afterAll(async () => {
    if (skipped) return;
    await gate.stop();
    await simulator.stop();
    await postgres?.drop();
  }, 120_000);

  const ask = (changes: JsonObject): Promise<Response> =>
    fetch(`${gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key['secret'])}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock/pair', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100, ...changes }),
    });
  /** Sends a request and waits for its end; returns its id. */
  const finish = async (changes: JsonObject): Promise<string> => {
    const response = await ask(changes);
    await response.text();
    return idOf(response);
  };
  const show = (...args: readonly string[]): Promise<Ended> => runCommand(['usage', 'show', ...args], variables);
  /** Shows the fields of a request as people read them, by label. The line without a label continues the one before it. */
  const read = async (id: string): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await show(id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [heading = '', ...lines] = stdout.trimEnd().split('\n');
    expect(heading).toStartWith(`${id}: `);
    const width = Math.max(...lines.map((line) => /^\S+(?: \S+)*/u.exec(line)?.[0].length ?? 0)) + 2;
    const fields: Record<string, string> = { heading: heading.slice(id.length + 2) };
    let label = '';
    for (const line of lines) {
      const continued = line.slice(0, width).trim() === '';
      label = continued ? label : line.slice(0, width).trim();
      fields[label] = (continued ? `${fields[label]} | ` : '') + line.slice(width);
    }
    return fields;
  };
  const owner = (): Record<string, string> => ({
    account: expect.stringMatching(/^owner@example\.com \(acct_[\da-z]+\)$/u) as string,
    key: `首席 ci  ${String(key['prefix'])}…${String(key['last_four'])} (${String(key['id'])})`,
    received: expect.stringMatching(new RegExp(`^${TIME}$`, 'u')) as string,
    model: 'mock/pair',
  });
  const place = () => ({ databaseUrl: postgres?.url, databasePath: join(gate.dataFolder, 'tollgate.db') });

  test.skipIf(skipped)('explains a request that one provider failed and the next one answered, with its charge', async () => {
    simulator.next(OVERLOADED);
    const id = await finish({ stream: true, user: 'bob' });
    const { cost_usd: cost, held_usd: held, output_tokens: output, ...shown } = JSON.parse((await show(id, '--json')).stdout) as JsonObject;
    expect(shown).toMatchObject({
      request_id: id,
      state: 'settled',
      account_email: EMAIL,
      key_id: key['id'],
      key_name: '首席 ci',
      key_deleted: false,
      provider: 'mock',
      served_model: 'second',
      outcome: 'completed',
      error_meaning: null,
      called: [
        { provider: 'mock', outcome: 'provider_error' },
        { provider: 'mock', outcome: 'completed' },
      ],
      ledger: [{ id, kind: 'usage', usd: cost }],
    });
    const [charge] = shown['ledger'] as readonly JsonObject[];
    expect(await read(id)).toEqual({
      ...owner(),
      heading: 'completed',
      provider: 'mock (second)',
      'end user': 'bob',
      'first token': expect.stringMatching(/^after \d+ ms$/u) as string,
      duration: expect.stringMatching(/^\d+ ms, streamed$/u) as string,
      finished: 'stop',
      tokens: `${Number(shown['input_tokens'])} input, ${Number(output)} output`,
      held: `$${String(held)}`,
      cost: `$${String(cost)}`,
      called: expect.stringMatching(/^mock: provider_error after \d+ ms \| mock: completed after \d+ ms$/u) as string,
      ledger: `${String(charge?.['at'])}  $${String(cost)} from the wallet to revenue; balance then $${String(charge?.['balance_after'])}`,
    });
  });

  test.skipIf(skipped)('explains a request that every provider failed, which cost nothing', async () => {
    simulator.next(OVERLOADED);
    simulator.next(OVERLOADED);
    expect(await read(await finish({}))).toEqual({
      ...owner(),
      heading: 'failed',
      error: 'provider_error (status 500): The provider failed while answering. Nothing was charged; try again.',
      duration: expect.stringMatching(/^\d+ ms, not streamed$/u) as string,
      tokens: '0 input, 0 output',
      held: expect.stringMatching(/^\$0\.\d+$/u) as string,
      cost: '$0',
      called: expect.stringMatching(/^(?:mock: provider_error after \d+ ms(?: \| )?){2}$/u) as string,
      ledger: 'no transfer, because nothing was charged',
    });
  });

  test.skipIf(skipped)('explains a refused request, in the words that its caller got', async () => {
    const response = await ask({ temperature: 9 });
    const { error } = (await response.json()) as { error: { message: string } };
    const id = idOf(response);
    // Refusals are written in the background.
    await until(async () => (await show(id)).code === 0);
    expect(await read(id)).toEqual({
      ...owner(),
      heading: 'refused before a provider was called; nothing was charged',
      error: `decimal_above_max_value (status 400): ${error.message}`,
      field: 'temperature',
    });
    const shown = JSON.parse((await show(id, '--json')).stdout) as JsonObject;
    expect(shown).toMatchObject({ state: 'refused', status: 400, error_code: 'decimal_above_max_value', message: error.message });
  });

  test.skipIf(skipped)('shows what is held for a request that is still running', async () => {
    simulator.next({ type: 'hang', moment: { at: 'after_chunks', chunks: 2 } });
    const running = await ask({ stream: true });
    const id = idOf(running);
    const { held_usd: held, ...shown } = JSON.parse((await show(id, '--json')).stdout) as JsonObject;
    expect(shown).toMatchObject({ state: 'running', model: 'mock/pair', key_id: key['id'] });
    expect(held).toMatch(/^0\.\d+$/u);
    expect(await read(id)).toMatchObject({ ...owner(), heading: 'running; its money is held', held: `$${String(held)}` });
    await running.body?.cancel();
    await until(async () => (await read(id))['heading'] === 'client_gone: the caller left before the end');
  });

  test.skipIf(skipped)('finds the charge of a request whose usage row is gone, and a deleted key by its name', async () => {
    const doomed = await gate.run('key', 'create', '--account', EMAIL, '--name', 'doomed');
    const response = await fetch(`${gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(doomed['secret'])}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'mock/pair', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await response.text();
    const id = idOf(response);
    await gate.run('key', 'delete', String(doomed['id']));
    expect((await read(id))['key']).toBe(
      `doomed, deleted  ${String(doomed['prefix'])}…${String(doomed['last_four'])} (${String(doomed['id'])})`,
    );

    const { cost_usd: cost } = JSON.parse((await show(id, '--json')).stdout) as JsonObject;
    await useDatabase(place(), (database) => sql<Tables>`DELETE FROM usage WHERE request_id = ${id}`.execute(database));
    const { account, received } = owner();
    expect(await read(id)).toEqual({
      heading: 'charged; its details have been deleted, as retention.usage_days says',
      account: account ?? '',
      received: received ?? '',
      ledger: expect.stringContaining(`  $${String(cost)} from the wallet to revenue; balance then $`) as string,
    });
  });

  test.skipIf(skipped)('fails for an unknown id and says where else to look', async () => {
    const { code, stdout, stderr } = await show(UNKNOWN);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toStartWith(`There is no request ${UNKNOWN}, which would be from 2026-11-17T22:15:21.323Z. Look for it in the log: `);
  });
});

describe('usage show', () => {
  test.each(['x', 'req_', 'key_0mwl93ncbcad1eab208b5b9f4b870', UNKNOWN.slice(0, -1), UNKNOWN.toUpperCase(), ''])(
    'refuses %j and says what an id looks like',
    async (id) => {
      const stderr = `"${id}" is not a request id. One looks like ${UNKNOWN}, from the header x-request-id.\n`;
      expect(await runCommand(['usage', 'show', id], {})).toEqual({ code: 1, stdout: '', stderr });
    },
  );

  test('takes an id that was copied with quotes, and fails where there is no database', async () => {
    const { code, stderr } = await runCommand(['usage', 'show', ` "${UNKNOWN}"`], { TOLLGATE_DATA: '/nowhere/data' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'There is no database at /nowhere/data/tollgate.db. Is TOLLGATE_DATA set as for the server?\n',
    });
  });
});

function idOf(response: Response): string {
  return response.headers.get('x-request-id') ?? '';
}
