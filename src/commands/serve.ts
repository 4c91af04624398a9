import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { FirstStart } from '../accounts/first-start.ts';
import { loadConfig } from '../config.ts';
import { serve, type Service } from '../serve.ts';

/** The process ends so that a supervisor restarts it: only reading the disk again shows what was kept. */
const DISK_LOST = 'the disk lost a write; the server stops, and the next start settles open holds';
/** Time for waiting clients to receive their errors. */
const LAST_WORDS_MS = 500;

/** `serve`: starts the gate. */
export function serveCommand(): Command {
  return new Command('serve').description('start the gate (settings: docs/configuration.md)').action(run);
}

async function run(): Promise<void> {
  // The text for people on standard output is not essential: if it cannot be written, the server keeps running.
  process.stdout.on('error', () => undefined);
  const service = await serve(loadConfig(process.env));
  endOnSignal(service);
  void service.lost.then((failure) => {
    service.log.internalError(DISK_LOST, failure);
    setTimeout(() => process.exit(1), LAST_WORDS_MS);
  });
  // A bug in the handling of one request must not end all the others.
  process.on('unhandledRejection', (error) => service.log.internalError('unhandled promise rejection', error));
  process.stdout.write(`Tollgate listens on ${service.url}/v1\n`);
  const first = await service.firstStart();
  if (first !== undefined) welcome(service.url, first);
  // Most code that ran so far never runs again. Dropping its compiled form frees a tenth of the memory.
  Bun.shrink();
}

/** Prints the trial key and the link to the operator account, at the very first start. */
function welcome(url: string, { secret, token }: FirstStart): void {
  process.stdout.write(`
This is the first start. Try it with a trial key, which may call the built-in sandbox models only:

  curl "${url}/v1/chat/completions" \\
    -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" \\
    -d '{"model": "sandbox/story", "messages": [{"role": "user", "content": "Tell me a story"}]}'

Add "stream": true to see it streamed. The key is not shown again.

Create your operator account in the dashboard. This link works once, within a day:

  ${url}/setup?token=${token}

Set a provider's key, such as OPENAI_API_KEY, to enable its models.

`);
}

/** npm forwards a Ctrl-C that the process has already received, so two signals within this time count as one. */
const SAME_SIGNAL_MS = 100;

/** Drains on the first signal and exits at once on a later one. */
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
  if (!ignoresHangUp()) process.on('SIGHUP', () => void end());
}

/**
 * Returns true if SIGHUP is ignored, as under `nohup`. A handler of ours would undo that; otherwise a closed terminal ends the server like
 * Ctrl-C.
 */
function ignoresHangUp(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '1';
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    // Not Linux: there is no way to find out.
    return true;
  }
}
