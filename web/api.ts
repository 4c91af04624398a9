import { hc } from 'hono/client';
import type { Api } from '../src/dashboard/contract.ts';
import { readRefusal } from './refusal.ts';
import { handleSignedOut } from './session-end.ts';
import { faults } from './strings/index.ts';
import { apiUrl } from './viewed.ts';

/** Error response of the server: its message for the user, and the request id to quote to support. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Name of the form field that caused the error. */
  readonly field: string | undefined;
  /** The message without the field's name, to be shown next to the field. */
  readonly fieldMessage: string;

  constructor({
    status,
    code,
    message,
    requestId,
    field,
    fieldMessage = message,
  }: {
    status: number;
    code: string;
    message: string;
    requestId?: string | undefined;
    field?: string | undefined;
    fieldMessage?: string;
  }) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.field = field;
    this.fieldMessage = fieldMessage;
  }
}

/** Tells whether the server answered 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Typed client of the dashboard's API: `await call(api.account.$get())`. */
export const api = hc<Api>(location.origin, {
  init: { credentials: 'same-origin' },
  fetch: (input: RequestInfo | URL, init?: RequestInit) =>
    fetch(typeof input === 'string' ? apiUrl(input) : input, { ...init, signal: init?.signal ?? AbortSignal.timeout(TIMEOUT_MS) }),
}).api;

/** Longer than the server takes for any request. */
const TIMEOUT_MS = 45_000;

/** HTTP response whose body has a known type. */
interface TypedResponse<Body> {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  json(): Promise<Body>;
}

/** Type of the response body of an endpoint: `ResponseBody<typeof api.account.$get>`. */
export type ResponseBody<Call> = Call extends (...parameters: never[]) => Promise<TypedResponse<infer Body>> ? Body : never;

/**
 * Returns the body of a response, or throws an `ApiError`. On a 401 it goes to the sign-in page, which leads back here. If the user has
 * typed into a form, the page stays open instead.
 */
export async function call<Body>(pending: Promise<TypedResponse<Body>>): Promise<Body> {
  const response = await awaitResponse(pending);
  if (response.ok) return response.json();
  const error = await readError(response);
  throw error.status === 401 ? afterSignOut(error) : error;
}

/** Goes to the sign-in page, or returns the error that tells how to continue on this page. */
export function afterSignOut(error: ApiError): ApiError {
  if (!handleSignedOut()) return error;
  return new ApiError({ status: error.status, code: error.code, message: faults.signedOut });
}

async function awaitResponse<Body>(pending: Promise<TypedResponse<Body>>): Promise<TypedResponse<Body>> {
  try {
    return await pending;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError({ status: 0, code: 'unreachable', message: faults.unreachable });
  }
}

/** Reads `{error: {code, message, field, request_id}}`. A proxy in between may send a body of another shape. */
export async function readError(response: TypedResponse<unknown>): Promise<ApiError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const error = readObject(readObject(body)?.['error']);
  const field = readString(error?.['field']);
  return new ApiError({
    status,
    code: readString(error?.['code']) ?? 'unknown',
    ...readRefusal(readString(error?.['message']) ?? faults.status(status), field),
    requestId: readString(error?.['request_id']) ?? response.headers.get('x-request-id') ?? undefined,
    field,
  });
}

function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function readString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
