import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from './candidates/candidate.ts';
import { encodeBody, type LoadPlan } from './load.ts';

const KEY_VISIBLE_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 30_000;
const STREAM_EVENTS_MIN = 50;

/**
 * Checks before the load that the candidate does the work: a whole answer with its usage, and a
 * stream that arrives in pieces. A proxy that buffers streams would look cheap.
 */
export async function verifyEndpoint(endpoint: Endpoint, paceMs: number): Promise<void> {
  const whole = await callUntilKeyIsSeen(endpoint);
  if (!whole.text.includes('"total_tokens"')) throw unexpected('JSON without usage', whole.text);
  const stream = await call(endpoint, 'stream');
  const events = stream.text.split('data: ').length - 1;
  if (events < STREAM_EVENTS_MIN || !stream.text.includes('data: [DONE]')) {
    throw unexpected(`a stream of ${events} events`, stream.text);
  }
  if (paceMs > 0 && stream.pieces < STREAM_EVENTS_MIN / 2) {
    throw new Error(`${endpoint.url} buffers: ${events} events came in ${stream.pieces} pieces`);
  }
}

/** Calls until the key works: a running Tollgate knows a new key within a second, not at once. */
async function callUntilKeyIsSeen(endpoint: Endpoint): Promise<Received> {
  const deadlineMs = performance.now() + KEY_VISIBLE_TIMEOUT_MS;
  for (;;) {
    try {
      return await call(endpoint, 'json');
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(100);
    }
  }
}

type Received = { readonly text: string; readonly pieces: number };

async function call(endpoint: Endpoint, kind: LoadPlan['kind']): Promise<Received> {
  const reply = await fetch(endpoint.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...endpoint.headers },
    body: encodeBody(endpoint.model, kind),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  const decoder = new TextDecoder();
  let text = '';
  let pieces = 0;
  for await (const bytes of reply.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    pieces += 1;
  }
  if (reply.status !== 200) throw unexpected(`status ${reply.status}`, text);
  return { text, pieces };
}

function unexpected(what: string, text: string): Error {
  return new Error(`the first request was answered with ${what}: ${text.slice(0, 500)}`);
}
