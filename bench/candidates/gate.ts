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
    building ??= build();
    return startBundle(stage, { name: 'gate', building, main: join(OUT, 'main.js'), upstreamOrigin });
  },
};

let building: Promise<boolean> | undefined;

async function build(): Promise<boolean> {
  let isReplaced = false;
  const plainLedger: Bun.BunPlugin = {
    name: 'plain-ledger',
    setup(bundle) {
      bundle.onResolve({ filter: /\/ledger\/open\.ts$/u }, () => {
        isReplaced = true;
        return { path: PLAIN_LEDGER };
      });
    },
  };
  const isBuilt = await buildServer({ out: OUT, plugins: [plainLedger] });
  if (!isReplaced) throw new Error('the ledger was not replaced: the server no longer opens it in src/ledger/open.ts');
  return isBuilt;
}
