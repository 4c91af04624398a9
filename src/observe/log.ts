import { constants, fstatSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { GatewayError } from '../errors.ts';
import type { SetAside, Settlement } from '../ledger/ledger.ts';
import { formatUsd } from '../ledger/money.ts';
import { promptTokens } from '../tokens.ts';
import { withTimeout } from '../with-timeout.ts';

/** A failed provider call. */
export interface FailedAttempt {
  readonly requestId: string;
  readonly provider: string;
  readonly error: GatewayError;
}

/** A request that ended in an error. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly path: string;
  readonly error: GatewayError;
}

/**
 * The log. It has one method per event and takes no free-form objects: headers, bodies and foreign error messages cannot get in, so
 * no prompt and no secret can get out.
 */
export interface Log {
  settled(settlement: Settlement, facts: { readonly isOverrun: boolean; readonly isResolvedBefore: boolean }): void;
  refused(request: RefusedRequest): void;
  attemptFailed(attempt: FailedAttempt & { readonly model: string }): void;
  streamFailed(attempt: FailedAttempt): void;
  /** A route keeps failing and is paused. */
  routePaused(facts: { readonly provider: string; readonly model: string; readonly pauseMs: number }): void;
  /** A provider whose key is set stays off, because variables of its address are missing. */
  providerIncomplete(facts: { readonly id: string; readonly missing: readonly string[] }): void;
  /** The ledger contradicts itself: the one thing that must never happen. */
  ledgerDiffers(facts: { readonly rule: string; readonly difference: string; readonly places: readonly string[] }): void;
  /** The ledger cannot write an operation. */
  setAside(operation: SetAside): void;
  lifecycle(event: string, facts?: Readonly<Record<string, string | number>>): void;
  internalError(event: string, error: unknown): void;
  /** Waits until all lines so far are written, but not long. */
  flush(): Promise<void>;
}

/** Opens the log: JSON lines to standard error. */
export function openLog(level: string): Log {
  const destination = openStandardError();
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
  return {
    // Every settled request has its row in the database. A log line for each would cost more than the rest of the request.
    settled: (settlement, { isOverrun, isResolvedBefore }) => {
      if (isResolvedBefore) logger.warn({ request_id: settlement.requestId }, 'the hold was resolved before the request ended');
      if (isOverrun) logger.warn(describeSettlement(settlement), 'the request cost more than was held for it');
      if (logger.isLevelEnabled('debug')) logger.debug(describeSettlement(settlement), 'request settled');
    },
    refused: ({ requestId, path, error }) => {
      const facts = { request_id: requestId, path, status: error.status, error: error.errorName, ...describeCause(error) };
      if (error.status === 500 && error.errorName !== 'draining') logger.error(facts, 'request failed');
      else logger.info(facts, 'request refused');
    },
    attemptFailed: ({ requestId, model, provider, error }) => {
      const facts = { request_id: requestId, model, provider, error: error.errorName, ...describeCause(error) };
      // Only the operator can fix a key that the provider refuses.
      if (error.errorName === 'provider_misconfigured')
        logger.error({ ...facts, alert: true }, 'the provider refuses our credentials or settings');
      else if (isRefusedUnsent(error)) logger.info(facts, 'a provider cannot carry the request and was not called');
      else logger.warn(facts, 'provider call failed');
    },
    streamFailed: ({ requestId, provider, error }) =>
      logger.warn(
        { request_id: requestId, provider, error: error.errorName, ...describeCause(error) },
        'stream broke after its first chunk',
      ),
    routePaused: ({ provider, model, pauseMs }) =>
      logger.warn({ provider, model, seconds: pauseMs / 1000 }, 'a route keeps failing and is paused'),
    providerIncomplete: ({ id, missing }) =>
      logger.warn({ provider: id, missing }, 'a provider stays off until the missing variables of its address are set'),
    ledgerDiffers: (facts) => logger.error({ ...facts, alert: true }, 'the ledger has a difference'),
    setAside: ({ type, requestId, accountId, cost, error }) => {
      const facts = {
        operation: type,
        request_id: requestId,
        account_id: accountId,
        ...(cost !== undefined && { cost_usd: formatUsd(cost) }),
      };
      logger.error({ ...facts, ...describeError(error), alert: true }, 'the ledger cannot write an operation');
    },
    lifecycle: (event, facts = {}) => logger.info(facts, event),
    internalError: (event, error) => logger.error(describeError(underlying(error)), event),
    flush: async () => {
      const deadlineMs = performance.now() + FLUSH_MS;
      // A reader that is only slow takes the rest a moment later.
      while (!(await flushOnce(destination)) && performance.now() < deadlineMs) await sleep(FLUSH_AGAIN_MS);
    },
  };
}

/**
 * Whether the attempt ended before the provider was called: its API cannot express the request, or media could not be fetched for it. The
 * provider did not fail then.
 */
function isRefusedUnsent({ status, details, cause }: GatewayError): boolean {
  return details.isUnsent === true || (status === 400 && !(cause instanceof Error && cause.name === 'ProviderFault'));
}

/** How much may wait to be written. Lines beyond it are dropped. */
const UNWRITTEN_BYTES_MAX = 1_000_000;
/** How long a program that ends waits for whoever reads its log. */
const FLUSH_MS = 500;
const FLUSH_AGAIN_MS = 5;

const STANDARD_ERROR = 2;

/**
 * Opens standard error. A full disk, or a reader who is gone or has stopped reading, must not end the server or hold it up: lines wait
 * until they can be written. Where writing may wait, another thread does it.
 */
function openStandardError(): ReturnType<typeof pino.destination> {
  const fd = openWithoutWaiting(STANDARD_ERROR);
  const destination = pino.destination({
    fd: fd ?? STANDARD_ERROR,
    sync: fd !== undefined,
    // Without a minimum, there is no waiting until everything is written.
    minLength: 1,
    maxLength: UNWRITTEN_BYTES_MAX,
    retryEAGAIN: () => false,
  });
  destination.on('error', () => undefined);
  destination.on('drop', () => {
    try {
      destination.flushSync();
    } catch {
      // It still cannot be written.
    }
  });
  return destination;
}

/** Returns false if the reader has not made room yet. Other errors, as of a pipe that cannot be synced, come after the writing or do not pass. */
function flushOnce(destination: ReturnType<typeof openStandardError>): Promise<boolean> {
  const flushed = new Promise<boolean>((resolve) =>
    destination.flush((error) => resolve(!(error && 'code' in error && error.code === 'EAGAIN'))),
  );
  return withTimeout('the log reader', flushed, FLUSH_MS).catch(() => false);
}

/**
 * Opens a pipe or a terminal once more, in the mode in which writing fails at once while it is full. The mode is not set on the descriptor
 * itself, because other programs share it. A file is never full for long. Returns undefined where the system does not allow this.
 */
function openWithoutWaiting(descriptor: number): number | undefined {
  try {
    if (fstatSync(descriptor).isFile()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

function describeSettlement(settlement: Settlement): Record<string, unknown> {
  return {
    request_id: settlement.requestId,
    account_id: settlement.accountId,
    key_id: settlement.keyId,
    model: settlement.model,
    provider: settlement.provider,
    outcome: settlement.outcome,
    prompt_tokens: promptTokens(settlement.usage),
    completion_tokens: settlement.usage.outputTokens,
    cost_usd: formatUsd(settlement.cost),
    duration_ms: settlement.durationMs,
  };
}

/** Returns the cause behind an error shown to clients: only the cause helps to fix it. */
function underlying(error: unknown): unknown {
  return error instanceof GatewayError ? (error.cause ?? error) : error;
}

/** Describes a cause without any text of the client or the provider: its kind, a status, a system code, and where it was thrown. */
function describeCause(error: GatewayError): Record<string, unknown> {
  return error.cause === undefined ? {} : describeError(error.cause, error.details.isUnsent);
}

/** A request that was not sent has no status of its provider: its error has the status of the one that the provider would return. */
function describeError(error: unknown, isUnsent = false): Record<string, unknown> {
  if (error === undefined) return {};
  if (!(error instanceof Error)) return { cause: typeof error };
  const { status, code } = error as { status?: unknown; code?: unknown };
  return {
    cause: error.name,
    ...(typeof status === 'number' && !isUnsent ? { provider_status: status } : {}),
    ...(typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code) ? { code } : {}),
    ...(error.name === 'ProviderFault' ? {} : { at: framesOf(error) }),
  };
}

const FRAMES_MAX = 6;

/** Returns the stack frames, skipping the message, whose lines may look like frames. If the message has changed, its end is unknown. */
function framesOf({ stack = '', message }: Error): string[] {
  const begin = stack.indexOf(message);
  const lines = begin === -1 ? [] : stack.slice(begin + message.length).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, FRAMES_MAX);
}
