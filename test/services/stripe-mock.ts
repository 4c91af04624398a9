import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from './free-port.ts';

/** Stripe's own mock: it has no state, but knows every address, parameter and field of the API. */
export interface StripeMock {
  readonly url: string;
  stop(): Promise<void>;
}

const MODULE = 'github.com/stripe/stripe-mock@v0.203.0';
const INSTALL_WITHIN_MS = 180_000;
const READY_WITHIN_MS = 15_000;
/** Where it is kept for later runs. TMPDIR is removed after each. */
const PLACE = '/tmp/tollgate-go-bin';

/** Path of the program; undefined if it is missing and cannot be installed. Then its tests are skipped. */
export const stripeMockPath: string | undefined = await find();

async function find(): Promise<string | undefined> {
  const set = process.env['TEST_STRIPE_MOCK'];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go', 'bin'), PLACE];
  const places = [...(set === undefined ? [] : [set]), ...folders.map((folder) => join(folder, 'stripe-mock'))];
  const path = places.find((place) => existsSync(place)) ?? (await install());
  if (path === undefined)
    console.error(
      '\n!!! SKIPPED: all tests that need stripe-mock, since it is not on this machine. Install Go or set TEST_STRIPE_MOCK; see CONTRIBUTING.md.\n',
    );
  return path;
}

async function install(): Promise<string | undefined> {
  if (Bun.which('go') === null) return undefined;
  console.error('Installing stripe-mock with go for the tests; this is done once and may take a minute.');
  const child = Bun.spawn(['go', 'install', MODULE], {
    env: { ...process.env, GOBIN: PLACE },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: INSTALL_WITHIN_MS,
  });
  return (await child.exited) === 0 ? join(PLACE, 'stripe-mock') : undefined;
}

/** Starts it on a free port of the loopback interface. */
export async function startStripeMock(): Promise<StripeMock> {
  if (stripeMockPath === undefined) throw new Error('There is no stripe-mock: skip this suite if stripeMockPath is undefined.');
  const port = await findFreePort();
  const child = Bun.spawn([stripeMockPath, '-http-addr', `127.0.0.1:${port}`], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    const response = await fetch(`${url}/v1/customers`, { headers: { authorization: 'Bearer sk_test_123' } }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) break;
    await Bun.sleep(50);
  }
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}
