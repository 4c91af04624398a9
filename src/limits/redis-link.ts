import { createHash } from 'node:crypto';
import { RedisClient } from 'bun';
import { inTime, LateError } from '../in-time.ts';

/** Written when the connection is opened: a replica takes the scripts, and would refuse the first request that runs one. */
const PROBE = ['tollgate:probe', '', 'PX', '1'];
/** After so many late answers in a row the server is away. */
const LATE_MAX = 5;
const CONNECT_MS = 1000;
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30_000;
/** Who stayed for less than this may be gone again soon, and is looked for less often. */
const STEADY_MS = 60_000;

/** A script that Redis runs as one step. It is sent when the connection is opened, and called by its hash. */
export class RedisScript {
  readonly text: string;
  readonly hash: string;

  constructor(text: string) {
    this.text = text;
    this.hash = createHash('sha1').update(text).digest('hex');
  }
}

export interface RedisLinkOptions {
  /** Hears that the server is away, and that it is back; the first of the two with what was wrong. */
  onAway(failure: unknown): void;
  onBack(): void;
  /** Nobody waits longer for an answer. */
  readonly answerMs: number;
}

/** The way to a Redis server, which is there or away. Nobody waits for one that does not answer: it is looked for in the background. */
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

  /** Resolves when the server is there or known to be away. */
  async open(): Promise<void> {
    const client = new RedisClient(this.#url, { autoReconnect: false, enableOfflineQueue: false, connectionTimeout: CONNECT_MS });
    client.onclose = (failure) => this.#lose(client, failure);
    try {
      await inTime('Redis', client.connect(), CONNECT_MS);
      const loading = this.#scripts.map(({ text }) => client.send('SCRIPT', ['LOAD', text]));
      await inTime('Redis', Promise.all([...loading, client.send('SET', PROBE)]), CONNECT_MS);
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

  /** What the script gives; undefined when the server is away, or its answer late. */
  async run(script: RedisScript, keys: readonly string[], parameters: readonly string[]): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      const asked = call(client, script, [String(keys.length), ...keys, ...parameters]);
      const answer = await inTime('Redis', asked, this.#options.answerMs);
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

  /** A connection whose answers are late is given up: what still comes on it belongs to nobody. */
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

/** A server that answers and refuses, because it is a replica for example, says why in its first word, such as `READONLY`. */
function asRefusal(failure: unknown): Error | undefined {
  const code = failure instanceof Error ? /^[A-Z]{2,20}(?= )/u.exec(failure.message)?.[0] : undefined;
  return code === undefined ? undefined : Object.assign(new Error('Redis refuses', { cause: failure }), { code });
}

/** A server may be told to forget its scripts while we are connected. */
async function call(client: RedisClient, { text, hash }: RedisScript, rest: readonly string[]): Promise<unknown> {
  try {
    return await client.send('EVALSHA', [hash, ...rest]);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return client.send('EVAL', [text, ...rest]);
  }
}
