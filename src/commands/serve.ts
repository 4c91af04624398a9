import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { FirstStart } from '../accounts/first-start.ts';
import { loadConfig } from '../config.ts';
import { serve, type Service } from '../serve.ts';

/** A supervisor starts it anew: what is there can only be known by reading it again. */
const DISK_LOST = 'the disk lost a write; the server stops, and the next start settles what is open';
/** For those who wait to hear that their requests failed. */
const LAST_WORDS_MS = 500;

/** `serve`: the gate itself. */
export function serveCommand(): Command {
  return new Command('serve').description('start the gate (settings: docs/configuration.md)').action(run);
}

async function run(): Promise<void> {
  // What is for people may be lost where its disk is full or its reader gone: the server goes on.
  process.stdout.on('error', () => undefined);
  const service = await serve(loadConfig(process.env));
  endOnSignal(service);
  void service.lost.then((failure) => {
    service.log.internalError(DISK_LOST, failure);
    setTimeout(() => process.exit(1), LAST_WORDS_MS);
  });
  // A mistake in the handling of one request must not end all the others.
  process.on('unhandledRejection', (error) => service.log.internalError('unhandled promise rejection', error));
  process.stdout.write(`Tollgate listens on ${service.url}/v1\n`);
  const first = await service.firstStart();
  if (first !== undefined) welcome(service.url, first);
  // Most of what has run so far never runs again: what was compiled for it is given back, a tenth of the memory.
  Bun.shrink();
}

/** The very first start: a key that can be tried at once, and the way to an account of one's own. */
function welcome(url: string, { secret, token }: FirstStart): void {
  process.stdout.write(`
This is the first start. Try it with a trial key, which may call the built-in sandbox models only:

  curl "${url}/v1/chat/completions" \\
    -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" \\
    -d '{"model": "sandbox/story", "messages": [{"role": "user", "content": "Tell me a story"}]}'

Add "stream": true to see it streamed. The key is not shown again.

Make your operator account in the dashboard. This link works once, within a day:

  ${url}/setup?token=${token}

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
    await service.drain().catch((error: unknown) => service.log.internalError('the shutdown failed', error));
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
