import { hc } from 'hono/client';
import type { Api } from '../src/dashboard/contract.ts';
import { noticeSignedOut } from './session-end.ts';
import { faults } from './strings/index.ts';
import { apiAddress } from './viewed.ts';

/** A refusal of the server, with its text for the reader and the id to ask about. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** The field of a form that is to blame. */
  readonly field: string | undefined;

  constructor({
    status,
    code,
    message,
    requestId,
    field,
  }: {
    status: number;
    code: string;
    message: string;
    requestId?: string | undefined;
    field?: string | undefined;
  }) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.field = field;
  }
}

/** Whether what was asked for is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The dashboard's API with every address typed: `await call(api.account.$get())`. */
export const api = hc<Api>(location.origin, {
  init: { credentials: 'same-origin' },
  fetch: (input: RequestInfo | URL, init?: RequestInit) =>
    fetch(typeof input === 'string' ? apiAddress(input) : input, { ...init, signal: init?.signal ?? AbortSignal.timeout(TIMEOUT_MS) }),
}).api;

/** Longer than the server takes for anything. */
const TIMEOUT_MS = 45_000;

/** An answer whose body has a known shape. */
interface TypedAnswer<Body> {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  json(): Promise<Body>;
}

/** What an awaited answer of the client holds. */
export type Answer<Call> = Call extends (...parameters: never[]) => Promise<TypedAnswer<infer Body>> ? Body : never;

/** The body of an answer, or an `ApiError`. Without a session it goes to the sign-in page and comes back afterwards, unless something was typed. */
export async function call<Body>(answering: Promise<TypedAnswer<Body>>): Promise<Body> {
  const answer = await reach(answering);
  if (answer.ok) return answer.json();
  const error = await readError(answer);
  if (error.status !== 401 || !noticeSignedOut()) throw error;
  throw new ApiError({ status: error.status, code: error.code, message: faults.signedOut });
}

async function reach<Body>(answering: Promise<TypedAnswer<Body>>): Promise<TypedAnswer<Body>> {
  try {
    return await answering;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError({ status: 0, code: 'unreachable', message: faults.unreachable });
  }
}

/** Reads `{error: {code, message, field, request_id}}`. Something between us and the server may answer in its own way. */
export async function readError(answer: TypedAnswer<unknown>): Promise<ApiError> {
  const { status } = answer;
  const body: unknown = await answer.json().catch(() => undefined);
  const error = readObject(readObject(body)?.['error']);
  const field = readString(error?.['field']);
  return new ApiError({
    status,
    code: readString(error?.['code']) ?? 'unknown',
    message: forPeople(readString(error?.['message']) ?? faults.status(status), field),
    requestId: readString(error?.['request_id']) ?? answer.headers.get('x-request-id') ?? undefined,
    field,
  });
}

/** Takes away the name of the field that stands before the text for programs: on a page the field itself is marked. */
function forPeople(message: string, field = 'The request'): string {
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function readString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
