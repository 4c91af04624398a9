import { readFileSync } from 'node:fs';

/** npm forwards a Ctrl-C that the process has already received, so two signals within this time count as one. */
const SAME_SIGNAL_MS = 100;

/** The signal that asks a server to stop. A later one ends the process at once. */
export class StopSignal {
  /** Resolves when the signal arrives. */
  readonly arrival: Promise<void>;
  #arrivedAtMs: number | undefined;

  /** Handles the signals from now on, also while the server starts: as process 1 it would otherwise not receive them. */
  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.arrival = promise;
    const handle = (): void => {
      const nowMs = performance.now();
      if (this.#arrivedAtMs !== undefined && nowMs - this.#arrivedAtMs > SAME_SIGNAL_MS) process.exit(1);
      this.#arrivedAtMs ??= nowMs;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, handle);
    if (!ignoresHangUp()) process.on('SIGHUP', handle);
  }

  get hasArrived(): boolean {
    return this.#arrivedAtMs !== undefined;
  }
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
