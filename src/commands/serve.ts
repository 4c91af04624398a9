import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parseUsd, NO_MONEY } from '../ledger/money.ts';
import { OPERATOR_LINK_MS } from '../accounts/invitations.ts';
import { loadConfig } from '../config.ts';
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts';
import { serve, type Service } from '../serve.ts';

const TRIAL_EMAIL = 'trial@localhost';
const TRIAL_CREDIT_USD = '1';

/** `serve`: the gate itself. */
export function serveCommand(): Command {
  return new Command('serve').description('start the gate (settings: docs/configuration.md)').action(run);
}

async function run(): Promise<void> {
  // What is for people may be lost where its disk is full or its reader gone: the server goes on.
  process.stdout.on('error', () => undefined);
  const service = await serve(loadConfig(process.env));
  endOnSignal(service);
  // A mistake in the handling of one request must not end all the others.
  process.on('unhandledRejection', (error) => service.log.internalError('a promise was rejected and nobody listened', error));
  process.stdout.write(`Tollgate listens on ${service.url}/v1\n`);
  if (await isFirst(service)) await welcome(service);
  // Most of what has run so far never runs again: what was compiled for it is given back, a tenth of the memory.
  Bun.shrink();
}

/** The link is made last: where it is missing, an earlier start was ended before it could say anything. */
async function isFirst({ accounts, invitations }: Service): Promise<boolean> {
  return (await accounts.hasNoneBut(TRIAL_EMAIL)) && (await invitations.isEmpty());
}

/** The very first start: a key that can be tried at once, and the way to an account of one's own. */
async function welcome(service: Service): Promise<void> {
  const account = (await service.accounts.create(TRIAL_EMAIL, false)) ?? (await service.accounts.find(TRIAL_EMAIL));
  if (account === undefined) return;
  await service.accounts.credit(account, parseUsd(TRIAL_CREDIT_USD) ?? NO_MONEY, {
    reason: 'trial credit for the sandbox',
    actor: 'first start',
    // Once, also where an earlier start got as far as this.
    name: 'trial',
  });
  const models = service.catalog.list().filter((model) => model.provider === SANDBOX_PROVIDER);
  const { secret } = await service.keys.create(account.id, { name: 'trial', models: models.map((model) => model.id) });
  const token = await service.invitations.create({ kind: 'operator', email: undefined, lifeMs: OPERATOR_LINK_MS });
  process.stdout.write(`
This is the first start. Try it with a trial key, which may call the built-in sandbox models only:

  curl ${service.url}/v1/chat/completions \\
    -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" \\
    -d '{"model": "sandbox/story", "messages": [{"role": "user", "content": "Tell me a story"}]}'

Add "stream": true to see it streamed. The key is not shown again.

Make your operator account in the dashboard. This link works once, within a day:

  ${service.url}/setup?token=${token}

Set a provider's key, such as OPENAI_API_KEY, to switch its models on.

`);
}

/** npm passes a Ctrl-C on to a process that had it already: two signals in quick succession are one. */
const SAME_SIGNAL_MS = 100;

/** The first signal lets running answers finish; a later one ends at once. */
function endOnSignal(service: Service): void {
  let signalledAtMs: number | undefined;
  const end = async (): Promise<void> => {
    if (signalledAtMs !== undefined) {
      if (performance.now() - signalledAtMs > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    signalledAtMs = performance.now();
    await service.drain();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());
  if (!leavesHangUp()) process.on('SIGHUP', () => void end());
}

/** A terminal that is closed ends the server like Ctrl-C, unless `nohup` started it: a handler of ours would undo that. */
function leavesHangUp(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '1';
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    // Not Linux: who ignores what cannot be known.
    return true;
  }
}
