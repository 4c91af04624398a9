import { Command } from 'commander';
import type { FirstStart } from '../accounts/first-start.ts';
import { loadConfig } from '../config.ts';
import { serve } from '../serve.ts';
import { StopSignal } from '../stop-signal.ts';

/** The process ends so that a supervisor restarts it: only reading the disk again shows what was kept. */
const DISK_LOST = 'the disk lost a write; the server stops, and the next start settles open holds';
/** Time for waiting clients to receive their errors. */
const LAST_WORDS_MS = 500;

/** `serve`: starts the gate. */
export function serveCommand(stop: StopSignal | undefined): Command {
  return new Command('serve').description('start the gate (settings: docs/configuration.md)').action(() => run(stop ?? new StopSignal()));
}

async function run(stop: StopSignal): Promise<void> {
  // The text for people on standard output is not essential: if it cannot be written, the server keeps running.
  process.stdout.on('error', () => undefined);
  const service = await serve(loadConfig(process.env));
  void service.lost.then((failure) => {
    service.log.internalError(DISK_LOST, failure);
    setTimeout(() => process.exit(1), LAST_WORDS_MS);
  });
  // A bug in the handling of one request must not end all the others.
  process.on('unhandledRejection', (error) => service.log.internalError('unhandled promise rejection', error));
  process.stdout.write(`Tollgate listens on ${service.url}/v1\n`);
  // A server that was asked to stop while it started leaves the welcome to the next start.
  const first = stop.hasArrived ? undefined : await service.firstStart();
  if (first !== undefined) welcome(service.url, first);
  // Most code that ran so far never runs again. Dropping its compiled form frees a tenth of the memory. The runtime does not do that while
  // it collects garbage, and on a busy machine it mostly does: so the collection is finished first.
  Bun.gc(true);
  Bun.shrink();
  await stop.arrival;
  await service.drain().catch((error: unknown) => service.log.internalError('the shutdown failed', error));
  await service.log.flush();
  process.exit(0);
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
