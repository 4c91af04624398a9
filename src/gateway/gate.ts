import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Limits } from '../limits/limits.ts';
import type { Log } from '../observe/log.ts';
import type { KeyCache } from './authenticate.ts';

/** Everything that the steps of a request work with. */
export interface Gate {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly keys: KeyCache;
  readonly limits: Limits;
  readonly ledger: Ledger;
  readonly log: Log;
  /** The requests under way. */
  readonly calls: Set<Call>;
}

/** One request of a caller, from its arrival to the end of its answer. */
export interface Call {
  readonly id: string;
  readonly startedAtMs: number;
  /** Aborted when the caller leaves, or when the server ends before the answer does; the reason says which. */
  readonly abort: AbortController;
  /** True once the answer streams: then the end of the stream is the end of the call, not the return of its handler. */
  isStreaming: boolean;
  /** How long the connection may be silent before it is closed; 0 for as long as it takes. */
  readonly setIdleTimeout: (seconds: number) => void;
}

/** Why a call was aborted when nobody is left to be told. */
export const CLIENT_GONE = Symbol('client gone');

/** True when the caller has left. */
export function isClientGone(call: Call): boolean {
  return call.abort.signal.reason === CLIENT_GONE;
}
