import { isObject, type JsonObject } from '../../src/openai/types.ts';

/** What a recording says, worked out without the program that is tested. */
export type Expected =
  | { readonly type: 'answer'; readonly choices: readonly ExpectedChoice[]; readonly usage: ExpectedUsage | undefined }
  /** The recording is an error, with the status that it stands for. */
  | { readonly type: 'failure'; readonly status: number }
  /** It goes on in an answer that is not in the recording. */
  | { readonly type: 'part' };

export interface ExpectedChoice {
  content: string;
  reasoning: string;
  refusal: string;
  readonly calls: ExpectedCall[];
  finish: string;
}

export interface ExpectedCall {
  /** Undefined where the provider gives none. */
  id: string | undefined;
  name: string;
  /** JSON as the provider wrote it; nothing at all stands for no arguments. */
  json: string;
}

/** Counts that overlap as the caller's dialect has them: cached and written are in the prompt, reasoning in the completion. */
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

/** A list of objects, whatever else was there. */
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
