import type { Carried } from '../carried/carried.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { HttpClient } from '../http/client.ts';
import type { HeldBytes } from '../http/held-bytes.ts';
import type { Reach } from '../http/fetch-media.ts';
import type { Incoming } from '../http/incoming.ts';
import type { OutgoingStream } from '../http/outgoing-stream.ts';
import type { Arrival } from '../http/server.ts';
import { makeId } from '../ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { AccountPlaces } from '../limits/account-places.ts';
import type { Limits } from '../limits/limits.ts';
import type { MemoryWatch } from '../observe/memory-watch.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Contents } from '../usage/contents.ts';
import type { Refusals } from '../usage/refusals.ts';
import { holdBody } from './body-memory.ts';
import { Call } from './call.ts';
import type { KeyCache } from './key-cache.ts';
import type { Overruns } from './overruns.ts';
import type { RouteHealth } from './route-health.ts';

/** Everything that the steps of the request path share. */
export interface Gate {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly keys: KeyCache;
  readonly carried: Carried;
  /** Records prompts and answers for accounts that have recording turned on. */
  readonly contents: Contents;
  /** Records refused requests, for their accounts to look at. */
  readonly refusals: Refusals;
  readonly limits: Limits;
  readonly accountPlaces: AccountPlaces;
  /** Counts the bodies and replies in memory. */
  readonly held: HeldBytes;
  readonly memory: Pick<MemoryWatch, 'isShort'>;
  readonly ledger: Ledger;
  /** The current price version of each model. */
  readonly priceVersions: ReadonlyMap<string, number>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Sends requests to providers. */
  readonly client: HttpClient;
  /** Knows which routes are worth trying. */
  readonly routeHealth: RouteHealth;
  /** Knows whose media must not be trusted to stay within their bound. */
  readonly overruns: Overruns;
  /** The addresses that media given by URL may be fetched from. */
  readonly reach: Reach;
  /** How many requests wait for media that is being fetched. */
  readonly waitingForMedia: { count: number };
  /** The requests in progress. One clock watches them all: a timer and a listener per request would cost more. */
  readonly calls: Set<Call>;
}

/** A successful result of an operation, before it becomes an HTTP response. */
export interface Reply {
  readonly body: string | OutgoingStream;
  readonly headers: Record<string, string>;
}

/** Begins the call of a request that has arrived. */
export function openCall({ calls }: Pick<Gate, 'calls'>, request: Incoming, arrival: Arrival): Call {
  const startedAtMs = Date.now();
  const call = new Call(makeId('req', startedAtMs), startedAtMs, request, arrival);
  calls.add(call);
  return call;
}

/** Notes that a call has ended, and frees its place and its memory. Only the first time counts. */
export function closeCall({ calls, accountPlaces, held }: Pick<Gate, 'calls' | 'accountPlaces' | 'held'>, call: Call): void {
  if (!calls.delete(call)) return;
  if (call.accountId !== undefined) accountPlaces.free(call.accountId);
  holdBody(call, -call.heldBytes, held);
}
