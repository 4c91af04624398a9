/** `bun bench/accounts.ts [postgres]`: what a request costs the server when many accounts are busy. `--help` says more. */
import { join } from 'node:path';
import { Command } from 'commander';
import { sql, type Kysely } from 'kysely';
import { buildServer } from '../scripts/build-server.ts';
import { connect } from '../src/database/connect.ts';
import { migrate } from '../src/database/migrate.ts';
import type { Tables } from '../src/database/tables.ts';
import { every } from '../src/turns.ts';
import { makePayer, type Payer } from '../test/simulator/payer.ts';
import { bunProgram } from './candidates/bun-program.ts';
import { chatUrl } from './candidates/candidate.ts';
import type { LoadPlan } from './load.ts';
import { describeMachine } from './machine.ts';
import { POSTGRES_HELP, readPostgresAddress } from './postgres-address.ts';
import { readCpuMicros } from './process-tree.ts';
import { findFreePort, waitUntilReady } from './readiness.ts';
import { Stage, type StagedProcess } from './stage.ts';
import { createWrkGenerator } from './wrk.ts';

const ACCOUNTS = 1000;
const CHANGES_PER_SECOND = 2;
const CONNECTIONS = 32;
const SECONDS = 6;
const ROUNDS = 3;
const MODEL = 'sandbox/echo';
const NO_LIMITS = { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000_000, concurrent: 10_000 };

const [databaseUrl] = new Command('bun bench/accounts.ts')
  .description(
    'Measures what a request costs the server when a thousand accounts are busy, and when accounts change meanwhile. Needs Linux and wrk, and takes about two minutes.',
  )
  .argument('[postgres]', POSTGRES_HELP, readPostgresAddress)
  .parse().processedArgs as [databaseUrl: string | undefined];
const stage = new Stage();
process.once('SIGINT', () => void stage.clear().finally(() => process.exit(130)));
try {
  await run();
} finally {
  await stage.clear();
}

async function run(): Promise<void> {
  if (!(await buildServer())) throw new Error('the server could not be bundled');
  const port = await findFreePort();
  const dataFolder = stage.makeFolder('data');
  const { kysely, dialect } = await connect({ databaseUrl, databasePath: join(dataFolder, 'tollgate.db') });
  try {
    await migrate(kysely, dialect);
    const server = await startServer(port, dataFolder);
    const payers = await Array.fromAsync({ length: ACCOUNTS }, () => makePayer(kysely, '1000', NO_LIMITS));
    const endpoint = { url: chatUrl(`http://127.0.0.1:${port}`), headers: {}, model: MODEL };
    const plan = { endpoint, kind: 'json', connections: CONNECTIONS, seconds: SECONDS } as const;
    const secrets = payers.map(({ secret }) => secret);
    const loads: readonly (readonly [name: string, measure: () => Promise<number>])[] = [
      ['one key', () => measure(server, { ...plan, secrets: secrets.slice(0, 1) })],
      [`${ACCOUNTS} keys`, () => measure(server, { ...plan, secrets })],
      [
        `${ACCOUNTS} keys, ${CHANGES_PER_SECOND} changes a second`,
        () => duringChanges(kysely, payers, () => measure(server, { ...plan, secrets })),
      ],
    ];
    // The first round is the warm-up. Loads take turns, because a machine is slower at some times than at others.
    const rounds: number[][] = [];
    for (let round = 0; round <= ROUNDS; round += 1) rounds.push(await Array.fromAsync(loads, ([, load]) => load()));
    console.log(`${dialect}, ${describeMachine()}: CPU of the server a request, in us`);
    for (const [index, [name]] of loads.entries()) {
      const micros = rounds.slice(1).map((round) => Math.round(round[index] ?? Number.NaN));
      console.log(`${name.padEnd(34)} ${Math.min(...micros)}  (${micros.join(', ')})`);
    }
  } finally {
    await kysely.destroy();
  }
}

async function startServer(port: number, dataFolder: string): Promise<StagedProcess> {
  const { command, environment } = bunProgram(join(import.meta.dir, '../dist/server/main.js'), ['serve']);
  const own = {
    HOST: '127.0.0.1',
    PORT: String(port),
    TOLLGATE_DATA: dataFolder,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const server = stage.start({ name: 'tollgate', command, environment: { ...environment, ...own } });
  await waitUntilReady(server, `http://127.0.0.1:${port}/readyz`, 'ok');
  return server;
}

async function measure(server: StagedProcess, plan: LoadPlan): Promise<number> {
  const before = readCpuMicros(server.pid);
  const { completed, faults } = await createWrkGenerator(stage)(plan);
  if (faults.length > 0) throw new Error(faults.join(', '));
  return (readCpuMicros(server.pid) - before) / completed;
}

/** Touches one account after the other meanwhile. Every server learns whose account that was, and forgets its keys. */
async function duringChanges(database: Kysely<Tables>, payers: readonly Payer[], work: () => Promise<number>): Promise<number> {
  let changes = 0;
  const change = (): Promise<unknown> => {
    changes += 1;
    return sql`UPDATE accounts SET status = status WHERE id = ${payers[changes % payers.length]?.accountId}`.execute(database);
  };
  const failures: unknown[] = [];
  const clock = every(1000 / CHANGES_PER_SECOND, change, (error) => failures.push(error));
  let result: number;
  try {
    result = await work();
  } finally {
    await clock.stop();
  }
  if (failures.length > 0) throw failures[0];
  return result;
}
