import { isObject, type JsonObject } from '../../src/openai/types.ts';

/** The contents of a recording, read without the code under test. */
export type Expected =
  | { readonly type: 'answer'; readonly choices: readonly ExpectedChoice[]; readonly usage: ExpectedUsage | undefined }
  /** An error, with its status. */
  | { readonly type: 'failure'; readonly status: number }
  /** It continues in a response that is not in the recording. */
  | { readonly type: 'part' };

export interface ExpectedChoice {
  content: string;
  reasoning: string;
  refusal: string;
  readonly calls: ExpectedCall[];
  finish: string;
}

export interface ExpectedCall {
  /** Undefined if the provider gives none. */
  id: string | undefined;
  name: string;
  /** JSON as the provider wrote it; empty means no arguments. */
  json: string;
}

/** Counts that overlap as in the caller's dialect: cached and written are part of the prompt, reasoning of the completion. */
export interface ExpectedUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly written: number;
  readonly reasoning: number;
}

export function silence(): ExpectedChoice {
  return { content: '', reasoning: '', refusal: '', calls: [], finish: '' };
}

/** Returns the objects of a list, and an empty list for anything else. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
