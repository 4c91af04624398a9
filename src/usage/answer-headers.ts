import { ERRORS, isErrorName } from '../errors.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';
import type { RequestRow } from './requests.ts';

/** A response header and its value. */
export interface AnswerHeader {
  readonly name: string;
  readonly value: string;
}

/** A stream that failed after its first token had already begun, with status 200 and these headers. */
const STREAM_TYPE = 'text/event-stream; charset=utf-8';
const WHOLE_TYPE = 'application/json';

/**
 * Reconstructs the informative response headers from the recorded request: the gate writes them from the same data.
 * Returns none if the client was gone before a response.
 */
export function answerHeaders(row: RequestRow): AnswerHeader[] {
  const hasStream = row.is_streaming === 1n && row.first_token_ms !== null;
  if (row.outcome === 'recovered' || (row.outcome === 'client_gone' && !hasStream)) return [];
  return [
    { name: 'x-request-id', value: row.request_id },
    { name: 'content-type', value: hasStream ? STREAM_TYPE : WHOLE_TYPE },
    ...(hasStream || row.outcome !== 'completed' ? [] : [{ name: 'x-tollgate-cost', value: formatUsd(asNanos(row.cost)) }]),
    ...(hasStream || !isFinal(row.error_code) ? [] : [{ name: 'x-should-retry', value: 'false' }]),
  ];
}

/** Returns whether a retry of the same request would get the same error. */
function isFinal(code: string | null): boolean {
  return code !== null && isErrorName(code) && !ERRORS[code].retry;
}
