import { createHash } from 'node:crypto';
import { RedisClient } from 'bun';
import { withTimeout, LateError } from '../with-timeout.ts';

/** Written when the connection opens: a replica accepts the scripts but would refuse the first request that runs one. */
const PROBE = ['tollgate:probe', '', 'PX', '1'];
/** After this many late answers in a row, the server counts as away. */
const LATE_MAX = 5;
const CONNECT_MS = 1000;
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
/** A connection that lasted less than this may be lost again soon, so it is retried less often. */
const STEADY_MS = 60_000;

/** A script that Redis runs as one step. It is loaded when the connection opens, and called by its hash. */
export class RedisScript {
  readonly text: string;
  readonly hash: string;

  constructor(text: string) {
    this.text = text;
    this.hash = createHash('sha1').update(text).digest('hex');
  }
}

/** The options of a link. */
export interface RedisLinkOptions {
  /** Called when the server goes away, with the failure. */
  onAway(failure: unknown): void;
  /** Called when the server is back. */
  onBack(): void;
  /** The longest wait for an answer. */
  readonly answerMs: number;
}

/** The link to a Redis server, which is available or away. No request waits for a server that is away: it is retried in the background. */
export class RedisLink {
  readonly #url: string;
  readonly #scripts: readonly RedisScript[];
  readonly #options: RedisLinkOptions;
  #client: RedisClient | undefined;
  #isClosed = false;
  #isAway = false;
  #late = 0;
  #sinceMs = 0;
  #retryMs = RETRY_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, scripts: readonly RedisScript[], options: RedisLinkOptions) {
    this.#url = url;
    this.#scripts = scripts;
    this.#options = options;
  }

  /** Connects. Resolves when the server is available or known to be away. */
  async open(): Promise<void> {
    const client = new RedisClient(this.#url, { autoReconnect: false, enableOfflineQueue: false, connectionTimeout: CONNECT_MS });
    client.onclose = (failure) => this.#lose(client, failure);
    try {
      await withTimeout('Redis', client.connect(), CONNECT_MS);
      const loading = this.#scripts.map(({ text }) => client.send('SCRIPT', ['LOAD', text]));
      await withTimeout('Redis', Promise.all([...loading, client.send('SET', PROBE)]), CONNECT_MS);
    } catch (error) {
      client.close();
      this.#away(error);
      return;
    }
    if (this.#isClosed) return client.close();
    this.#client = client;
    this.#sinceMs = performance.now();
    this.#late = 0;
    if (this.#isAway) this.#options.onBack();
    this.#isAway = false;
  }

  /** Runs a script and returns its result; undefined when the server is away or its answer is late. */
  async run(script: RedisScript, keys: readonly string[], parameters: readonly string[]): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      const pending = call(client, script, [String(keys.length), ...keys, ...parameters]);
      const answer = await withTimeout('Redis', pending, this.#options.answerMs);
      this.#late = 0;
      return answer;
    } catch (error) {
      if (error instanceof LateError) this.#late += 1;
      if (!(error instanceof LateError) || this.#late >= LATE_MAX) this.#lose(client, error);
      return undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#client?.close();
    this.#client = undefined;
  }

  /** Gives up a connection. Answers that still arrive on one that is late belong to no request. */
  #lose(client: RedisClient, failure: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.close();
    this.#retryMs = performance.now() - this.#sinceMs < STEADY_MS ? Math.min(2 * this.#retryMs, RETRY_MS_MAX) : RETRY_MS;
    this.#away(failure);
  }

  #away(failure: unknown): void {
    if (this.#isClosed) return;
    if (!this.#isAway) this.#options.onAway(asRefusal(failure) ?? failure);
    this.#isAway = true;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.open(), this.#retryMs).unref();
  }
}

/** Extracts the reason of a server that answers but refuses, for example a replica: its first word, such as `READONLY`. */
function asRefusal(failure: unknown): Error | undefined {
  const code = failure instanceof Error ? /^[A-Z]{2,20}(?= )/u.exec(failure.message)?.[0] : undefined;
  return code === undefined ? undefined : Object.assign(new Error('Redis refuses', { cause: failure }), { code });
}

/** Calls a script by its hash, and by its text if the server has flushed its scripts. */
async function call(client: RedisClient, { text, hash }: RedisScript, rest: readonly string[]): Promise<unknown> {
  try {
    return await client.send('EVALSHA', [hash, ...rest]);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return client.send('EVAL', [text, ...rest]);
  }
}
