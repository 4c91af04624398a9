import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, waitUntilReady } from '../readiness.ts';
import type { Stage } from '../stage.ts';
import { type AbsentCandidate, type Candidate, plainEndpoint } from './candidate.ts';

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const INSTALL_TIMEOUT_MS = 180_000;

// With any newer @hono/node-server in its own range, this version responds to every stream with
// status 500: it appends to headers that have become immutable ("TypeError: immutable").
const MANIFEST = {
  private: true,
  dependencies: { [PACKAGE]: VERSION },
  overrides: { '@hono/node-server': '1.14.1' },
};

/** Portkey's gateway on Node, from its npm package: the closest comparable gateway that installs anywhere. */
export const portkey: Candidate = {
  name: 'portkey',
  title: `Portkey gateway ${VERSION}`,
  async start(stage, upstreamOrigin) {
    const folder = await install(stage);
    if (typeof folder !== 'string') return folder;
    const port = await findFreePort();
    const script = join(folder, 'node_modules', PACKAGE, 'build/start-server.js');
    const process = stage.start({
      name: 'portkey',
      // Headless and in production mode, without its log page, as its documentation deploys it.
      command: ['node', script, `--port=${port}`, '--headless'],
      environment: { NODE_ENV: 'production' },
    });
    const origin = `http://127.0.0.1:${port}`;
    await waitUntilReady(process, origin);
    const plain = plainEndpoint(origin);
    const headers = {
      ...plain.headers,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstreamOrigin}/v1`,
    };
    return { type: 'running', process, endpoint: { ...plain, headers } };
  },
};

/** Installs once per machine, in a folder that is kept between runs, since npm takes many seconds. */
async function install(stage: Stage): Promise<string | AbsentCandidate> {
  if (Bun.which('node') === null || Bun.which('npm') === null) {
    return { type: 'absent', reason: 'node and npm are not both installed' };
  }
  const folder = join(tmpdir(), `tollgate-bench-portkey-${VERSION}-${process.getuid?.() ?? 0}`);
  const stamp = join(folder, 'installed');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== process.getuid?.()) {
    return { type: 'absent', reason: `${folder} belongs to another user` };
  }
  if (existsSync(stamp)) return folder;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(MANIFEST));
  const options = {
    name: 'portkey-install',
    command: ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: folder,
    environment: process.env,
  } as const;
  try {
    await stage.run(options, INSTALL_TIMEOUT_MS);
  } catch (error) {
    const lines = String(error).split('\n');
    const cause = lines.find((line) => line.includes('npm error')) ?? lines[0];
    return { type: 'absent', reason: `npm install failed: ${cause}` };
  }
  writeFileSync(stamp, '');
  return folder;
}
