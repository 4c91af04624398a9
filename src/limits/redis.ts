import { randomUUID } from 'node:crypto';
import {
  refuse,
  stateAt,
  type Admission,
  type KeyLimits,
  type KeyUse,
  type Levels,
  type LimitName,
  type Limits,
  type LimitRefusal,
} from './limits.ts';
import { MemoryLimits } from './memory.ts';
import { RedisLink, RedisScript, type RedisLinkOptions } from './redis-link.ts';

/** How long an open request counts after its node last renewed it. Requests of a dead node expire. */
const LEASE_MS = 30_000;
/** More than are ever open at once. The limit guards against a server that comes and goes. */
const UNREPORTED_MAX = 10_000;

/** The options of the limits. */
export interface RedisLimitsOptions extends RedisLinkOptions {
  readonly leaseMs?: number;
  /** For tests. By default the server's clock counts, so the nodes' clocks need not agree. */
  readonly now?: () => number;
}

/**
 * The limits of all nodes together, in Redis or Valkey. Each operation is one script, so two nodes cannot hand out the same slot.
 * While the server is away, every node counts by itself: a limit that is too wide for a while is better than no answers.
 */
export class RedisLimits implements Limits {
  readonly #link: RedisLink;
  readonly #fallback: MemoryLimits;
  readonly #leaseMs: number;
  readonly #now: (() => number) | undefined;
  readonly #node = randomUUID();
  #requests = 0;
  /** The open requests of this node, by key. */
  readonly #open = new Map<string, Set<string>>();
  /** Releases that the server may not have received. */
  readonly #unreported: Slot[] = [];
  readonly #renewing: ReturnType<typeof setInterval>;

  /** Resolves when the server is available or known to be away. */
  static async open(url: string, options: RedisLimitsOptions): Promise<RedisLimits> {
    const limits = new RedisLimits(url, options);
    await limits.#link.open();
    return limits;
  }

  private constructor(url: string, options: RedisLimitsOptions) {
    const onBack = (): void => {
      options.onBack();
      this.#repeatReleases();
    };
    this.#link = new RedisLink(url, [LOOK, ADMIT, RELEASE, RENEW], { ...options, onBack });
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#now = options.now;
    this.#fallback = new MemoryLimits(options.now);
    this.#renewing = setInterval(() => this.#renew(), this.#leaseMs / 3).unref();
  }

  async admit(keyId: string, limits: KeyLimits, tokensExpected: number): Promise<Admission | LimitRefusal> {
    this.#requests += 1;
    const lease = `${this.#node}:${this.#requests}`;
    const facts = [...this.#limitsNow(limits), String(limits.concurrent), String(tokensExpected), lease, String(this.#leaseMs)];
    const answer = (await this.#link.run(ADMIT, redisKeysOf(keyId), facts)) as [...LevelTexts, LimitName | ''] | undefined;
    if (answer === undefined) {
      // A late answer may still have taken a slot that nothing else would release.
      void this.#releaseSlot({ keyId, lease, limits, tokens: tokensExpected, requests: 1 });
      return this.#fallback.admit(keyId, limits, tokensExpected);
    }
    const [requests, tokens, open, limit] = answer;
    const levels = toLevels([requests, tokens, open]);
    if (limit !== '') return refuse(limit, levels, limits, tokensExpected);
    this.#noteOpen(keyId, lease);
    return { type: 'admitted', state: stateAt(levels, limits), release: this.#releaseOnce(keyId, lease, limits, tokensExpected) };
  }

  async stateOf(keyId: string, limits: KeyLimits): Promise<KeyUse> {
    const answer = (await this.#link.run(LOOK, redisKeysOf(keyId), this.#limitsNow(limits))) as LevelTexts | undefined;
    if (answer === undefined) return this.#fallback.stateOf(keyId, limits);
    const levels = toLevels(answer);
    return { ...stateAt(levels, limits), open: levels.open };
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing);
    this.#link.close();
  }

  #limitsNow({ requestsPerMinute, tokensPerMinute }: KeyLimits): string[] {
    return [this.#nowText(), String(requestsPerMinute), String(tokensPerMinute)];
  }

  #nowText(): string {
    return this.#now === undefined ? '' : String(this.#now());
  }

  #releaseOnce(keyId: string, lease: string, limits: KeyLimits, tokensExpected: number): (tokensUsed: number) => void {
    return (tokensUsed) => {
      const open = this.#open.get(keyId);
      if (open?.delete(lease) !== true) return;
      if (open.size === 0) this.#open.delete(keyId);
      void this.#releaseSlot({ keyId, lease, limits, tokens: tokensExpected - tokensUsed, requests: 0 });
    };
  }

  /**
   * Releases a slot in the background. If the server is away or late, the release is repeated later: until its lease expires, the slot
   * would count as taken.
   */
  async #releaseSlot(slot: Slot): Promise<void> {
    const { keyId, lease, limits, tokens, requests } = slot;
    const facts = [...this.#limitsNow(limits), lease, String(tokens), String(requests)];
    const answer = await this.#link.run(RELEASE, redisKeysOf(keyId), facts);
    if (answer === undefined && this.#unreported.length < UNREPORTED_MAX) this.#unreported.push(slot);
  }

  #repeatReleases(): void {
    for (const slot of this.#unreported.splice(0)) void this.#releaseSlot(slot);
  }

  #noteOpen(keyId: string, lease: string): void {
    const open = this.#open.get(keyId);
    if (open === undefined) this.#open.set(keyId, new Set([lease]));
    else open.add(lease);
  }

  /** Renews the leases of open requests. A server that lost them learns them again. */
  #renew(): void {
    this.#repeatReleases();
    const facts = [this.#nowText(), String(this.#leaseMs)];
    for (const [keyId, leases] of this.#open) void this.#link.run(RENEW, redisKeysOf(keyId), [...facts, ...leases]);
  }
}

/** The slot of a request that has ended or was never admitted, and what its key gets back with it. */
interface Slot {
  readonly keyId: string;
  readonly lease: string;
  readonly limits: KeyLimits;
  readonly tokens: number;
  readonly requests: number;
}

/** The levels of a key, which are fractions and arrive from Redis as texts, and the number of open requests. */
type LevelTexts = [requests: string, tokens: string, open: number];

function toLevels([requests, tokens, open]: LevelTexts): Levels {
  return { requests: Number(requests), tokens: Number(tokens), open };
}

/** The two Redis keys of an API key: its buckets, and its open requests with the time at which each expires. */
function redisKeysOf(keyId: string): readonly string[] {
  return [`tollgate:limits:{${keyId}}`, `tollgate:open:{${keyId}}`];
}

/** Computes the current levels of a key, as in memory.ts. */
const LEVELS = `
local function exact(number) return string.format('%.17g', number) end
local clock = redis.call('TIME')
local now = tonumber(ARGV[1]) or clock[1] * 1000 + clock[2] / 1000
local rpm, tpm = tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'requests', 'tokens', 'at')
local at = tonumber(kept[3]) or now
-- The clock was set back, or is that of another server: what was used fills up from here on.
if at > now then at = now; redis.call('HSET', KEYS[1], 'at', exact(now)) end
local elapsed = now - at
local requests = math.min(rpm, (tonumber(kept[1]) or rpm) + elapsed * rpm / 60000)
local tokens = math.min(tpm, (tonumber(kept[2]) or tpm) + elapsed * tpm / 60000)
local function save()
  redis.call('HSET', KEYS[1], 'requests', exact(requests), 'tokens', exact(tokens), 'at', exact(now))
  -- Forgotten a minute after both buckets are full, so a debt is not.
  local missing = math.max((rpm - requests) / rpm, (tpm - tokens) / tpm)
  redis.call('PEXPIRE', KEYS[1], math.ceil(missing * 60000) + 60000)
end
`;

const LOOK = new RedisScript(`${LEVELS}
return {exact(requests), exact(tokens), redis.call('ZCOUNT', KEYS[2], '(' .. exact(now), '+inf')}
`);

/** Returns the levels with the request counted and an empty name, or unchanged levels and the name of the exceeded limit. */
const ADMIT = new RedisScript(`${LEVELS}
local concurrent, expected, lease, leaseMs = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', exact(now))
local open = redis.call('ZCARD', KEYS[2])
local limit = ''
if open >= concurrent then limit = 'concurrent' elseif requests < 1 then limit = 'requests' elseif tokens < expected then limit = 'tokens' end
if limit == '' then
  requests = requests - 1
  tokens = tokens - expected
  open = open + 1
  save()
  redis.call('ZADD', KEYS[2], exact(now + leaseMs), lease)
  redis.call('PEXPIRE', KEYS[2], leaseMs)
end
return {exact(requests), exact(tokens), open, limit}
`);

/** Counts once, even if it runs twice. */
const RELEASE = new RedisScript(`${LEVELS}
if redis.call('ZREM', KEYS[2], ARGV[4]) == 1 then
  tokens = tokens + tonumber(ARGV[5])
  requests = requests + tonumber(ARGV[6])
  save()
end
`);

const RENEW = new RedisScript(`
local clock = redis.call('TIME')
local now = tonumber(ARGV[1]) or clock[1] * 1000 + clock[2] / 1000
for index = 3, #ARGV do redis.call('ZADD', KEYS[2], string.format('%.17g', now + ARGV[2]), ARGV[index]) end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
`);
