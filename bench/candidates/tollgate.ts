import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildServer } from '../../scripts/build-server.ts';
import { findFreePort, waitUntilReady } from '../readiness.ts';
import type { Stage } from '../stage.ts';
import { bunProgram } from './bun-program.ts';
import { type Candidate, type CandidateName, chatUrl, type RunningCandidate } from './candidate.ts';

/** The folder of the project. */
export const PROJECT = join(import.meta.dir, '../..');
const MAIN = join(PROJECT, 'src/main.ts');
/** The program that `npm start` runs. */
const BUNDLE = join(PROJECT, 'dist/server/main.js');
const COMMAND_TIMEOUT_MS = 15_000;
const MODEL = 'mock/gpt';
const EMAIL = 'bench@example.com';

type Environment = Readonly<Record<string, string>>;

/** Tollgate as operators run it: with a key, limits, charging and logs. */
export const tollgate: Candidate = {
  name: 'tollgate',
  title: 'Tollgate',
  start(stage, upstreamOrigin) {
    building ??= buildServer();
    return startBundle(stage, { name: 'tollgate', building, main: BUNDLE, upstreamOrigin });
  },
};

let building: Promise<boolean> | undefined;

/** A bundle of the server, and what it is for. */
interface Bundle {
  readonly name: CandidateName;
  readonly building: Promise<boolean>;
  readonly main: string;
  readonly upstreamOrigin: string;
}

/** Starts a bundle of the server with one account and one key. */
export async function startBundle(stage: Stage, { name, building: built, main, upstreamOrigin }: Bundle): Promise<RunningCandidate> {
  if (!(await built)) throw new Error('the server could not be bundled');
  const port = await findFreePort();
  const environment = prepareEnvironment(stage, port, upstreamOrigin);
  const program = bunProgram(main, ['serve']);
  const process = stage.start({
    name,
    command: program.command,
    cwd: PROJECT,
    environment: { ...program.environment, ...environment },
  });
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(process, `${origin}/readyz`, 'ok');
  const secret = await createKey(stage, environment);
  const headers = { authorization: `Bearer ${secret}` };
  return { type: 'running', process, endpoint: { url: chatUrl(origin), headers, model: MODEL } };
}

function prepareEnvironment(stage: Stage, port: number, upstreamOrigin: string): Environment {
  const folder = stage.makeFolder('tollgate-data');
  const configPath = join(folder, 'tollgate.yaml');
  writeFileSync(configPath, renderConfig(upstreamOrigin));
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: configPath,
  };
}

/** Limits are checked on every request, but are too high to be reached. */
function renderConfig(upstreamOrigin: string): string {
  return `providers:
  mock: { dialect: openai, base_url: ${upstreamOrigin}/v1, api_key: x }
models:
  - id: ${MODEL}
    name: Mock GPT
    provider: mock
    created: 1700000000
    context_length: 128000
    max_output_tokens: 16384
    price: { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 }
    routes:
      - { provider: mock, model: gpt-x }
limits: { requests_per_minute: 100000000, tokens_per_minute: 100000000000, concurrent: 100000 }
`;
}

async function createKey(stage: Stage, environment: Environment): Promise<string> {
  const run = (...parameters: string[]): Promise<string> => {
    const { command } = bunProgram(MAIN, [...parameters, '--json']);
    const options = { name: 'tollgate-command', command, cwd: PROJECT, environment };
    return stage.run(options, COMMAND_TIMEOUT_MS);
  };
  await run('account', 'create', '--email', EMAIL, '--credit', '1000000');
  return readSecret(await run('key', 'create', '--account', EMAIL, '--name', 'bench'));
}

function readSecret(output: string): string {
  const { secret } = JSON.parse(output) as { readonly secret?: unknown };
  if (typeof secret !== 'string') throw new Error(`"key create" printed no secret: ${output}`);
  return secret;
}
