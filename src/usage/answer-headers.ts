import { ERRORS, type ErrorName } from '../errors.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';
import type { RequestRow } from './requests.ts';

/** A header of an answer, and its value. */
export interface AnswerHeader {
  readonly name: string;
  readonly value: string;
}

/** A stream that failed had begun with a 200 and these headers if its first token was there. */
const STREAM_TYPE = 'text/event-stream; charset=utf-8';
const WHOLE_TYPE = 'application/json';

/**
 * The headers of an answer that tell something, worked out anew from what is on record: the gate writes them from the same facts.
 * None where nobody was left to be answered.
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

/** True for errors that the same request gets again. */
function isFinal(code: string | null): boolean {
  return code !== null && Object.hasOwn(ERRORS, code) && !ERRORS[code as ErrorName].retry;
}
