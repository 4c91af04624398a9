import { join } from 'node:path';
import { buildServer } from '../../scripts/build-server.ts';
import type { Candidate } from './candidate.ts';
import { PROJECT, startBundle } from './tollgate.ts';

const OUT = join(PROJECT, 'dist/gate');
const PLAIN_LEDGER = join(import.meta.dir, '../peers/plain-ledger.ts');

/** The gate by itself: the same program, bundled with a plain balance in place of the ledger. The difference to `tollgate` is what the ledger costs. */
export const gate: Candidate = {
  name: 'gate',
  title: 'Tollgate with a plain balance',
  start(stage, upstreamOrigin) {
    building ??= buildServer({ out: OUT, plugins: [plainLedger] });
    return startBundle(stage, { name: 'gate', building, main: join(OUT, 'main.js'), upstreamOrigin });
  },
};

let building: Promise<boolean> | undefined;

const plainLedger: Bun.BunPlugin = {
  name: 'plain-ledger',
  setup(build) {
    build.onResolve({ filter: /\/ledger\/open\.ts$/u }, () => ({ path: PLAIN_LEDGER }));
  },
};
