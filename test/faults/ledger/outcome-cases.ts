import type { KeySettings } from '../../../src/accounts/key-settings.ts';
import { ANSWER_TEXT, type Behaviour } from '../../simulator/behaviours.ts';
import type { JsonObject } from '../../simulator/wire.ts';
import { countUsage } from '../../simulator/wire.ts';
import type { Leave } from './ask.ts';

/** One row of the table of outcomes: what happens, and what the account pays. */
export interface Case {
  readonly behaviour: Behaviour;
  readonly body?: JsonObject;
  readonly leave?: Leave;
  readonly creditUsd?: string;
  /** What the caller gets: `answer`, an error code, or `nothing` because it left. */
  readonly gets: string;
  readonly outcome: 'completed' | 'failed' | 'client_gone';
  readonly pays: Payment;
  /** The failed attempts, and the provider that answered in the end. */
  readonly failedAttempts?: readonly string[];
  readonly provider?: string;
}

export type Payment =
  | 'nothing'
  /** What the provider reported. */
  | 'reported'
  /** The gate's own count of the message and of this output, at most this many tokens. */
  | { readonly counted: string; readonly tokensMax?: number };

const EVENT_STREAM = { 'content-type': 'text/event-stream' };
/** The first words of the answer, up to where a stream gets that hangs after its fourth chunk. The first chunk has no text. */
const FIRST_WORDS = ANSWER_TEXT.split(' ').slice(0, 3).join(' ');
/** More input than any request in these tests can have: the hold covers one token per byte. */
export const OVER = countUsage({ prompt: 5000, cached: 0, completion: 5 });
const ROLE_CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })}\n\n`;

const completed = { gets: 'answer', outcome: 'completed' } as const;
const estimated = { ...completed, pays: { counted: ANSWER_TEXT } } as const;
const broken = { gets: 'provider_error', outcome: 'failed', pays: 'nothing' } as const;
const unavailable = { ...broken, gets: 'provider_unavailable' } as const;
/** Callers leave on their own, so no provider attempt counts as failed. */
const gone = { gets: 'nothing', outcome: 'client_gone', failedAttempts: [] } as const;

/** Cases that are the same whether the answer is streamed or not. */
export const BOTH: readonly (readonly [name: string, row: Case])[] = [
  ['completed, usage reported', { ...completed, behaviour: { type: 'answer', cachedTokens: 3 }, pays: 'reported' }],
  ['completed, usage of zero', { ...completed, behaviour: { type: 'usage', value: 'zero' }, pays: 'nothing' }],
  ['completed, usage missing', { ...estimated, behaviour: { type: 'usage', value: 'missing' } }],
  ['completed, usage null', { ...estimated, behaviour: { type: 'answer', usage: null } }],
  ['completed, usage negative', { ...estimated, behaviour: { type: 'usage', value: 'negative' } }],
  ['completed, usage fractional', { ...estimated, behaviour: { type: 'answer', usage: { prompt_tokens: 12.5, completion_tokens: 3.5 } } }],
  ['completed, usage of 1e300', { ...estimated, behaviour: { type: 'usage', value: 'enormous' } }],
  ['completed, usage a text', { ...estimated, behaviour: { type: 'usage', value: 'text' } }],
  [
    'completed, more output reported than the limit',
    {
      ...completed,
      behaviour: { type: 'answer', usage: countUsage({ prompt: 9, cached: 0, completion: 5000 }) },
      body: { max_tokens: 4 },
      pays: { counted: ANSWER_TEXT, tokensMax: 4 },
    },
  ],
  [
    'completed, usage above the hold',
    { ...completed, behaviour: { type: 'answer', usage: OVER }, body: { max_tokens: 5 }, creditUsd: '0.001', pays: 'reported' },
  ],
  [
    'every attempt failed',
    {
      ...broken,
      behaviour: { type: 'status', status: 503, body: 'busy' },
      body: { model: 'mock/two' },
      failedAttempts: ['mock provider_error', 'spare provider_error'],
    },
  ],
  [
    'fallback succeeded',
    {
      ...completed,
      behaviour: { type: 'answer' },
      body: { model: 'mock/fallback' },
      pays: 'reported',
      failedAttempts: ['mock provider_error'],
      provider: 'spare',
    },
  ],
  ['an error instead of an answer', { ...broken, behaviour: { type: 'error_in_200' }, failedAttempts: ['mock provider_error'] }],
  [
    'the client leaves before the provider says anything',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'before_headers' } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
  [
    'the client leaves before the first token',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'after_headers' } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
];

export const WHOLE: readonly (readonly [name: string, row: Case])[] = [
  [
    'no choices at all',
    {
      ...broken,
      behaviour: {
        type: 'status',
        status: 200,
        body: { id: 'c', choices: [], usage: countUsage({ prompt: 9, cached: 0, completion: 0 }) },
      },
    },
  ],
  [
    'no output and no finish',
    {
      ...broken,
      behaviour: {
        type: 'status',
        status: 200,
        body: {
          id: 'c',
          choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }],
          usage: countUsage({ prompt: 9, cached: 0, completion: 0 }),
        },
      },
    },
  ],
  ['the provider breaks off in the middle', { ...unavailable, behaviour: { type: 'cut', moment: { at: 'after_chunks', chunks: 1 } } }],
  [
    'the client leaves in the middle of the body',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 1 } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
];

export const STREAMED: readonly (readonly [name: string, row: Case])[] = [
  ['no output and no finish', { ...broken, behaviour: { type: 'status', status: 200, body: ROLE_CHUNK, headers: EVENT_STREAM } }],
  [
    'no output and no finish, but [DONE]',
    { ...broken, behaviour: { type: 'status', status: 200, body: `${ROLE_CHUNK}data: [DONE]\n\n`, headers: EVENT_STREAM } },
  ],
  ['the provider sends an error in mid-stream', { ...broken, behaviour: { type: 'error_event', chunks: 4 } }],
  ['the provider breaks off in mid-stream', { ...unavailable, behaviour: { type: 'cut', moment: { at: 'after_chunks', chunks: 4 } } }],
  [
    'the provider stalls in mid-stream',
    { ...broken, gets: 'provider_timeout', behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } } },
  ],
  ['the provider sends garbage in mid-stream', { ...broken, behaviour: { type: 'garbage', content: 'invalid_json', chunks: 4 } }],
  [
    'the client leaves in mid-stream',
    {
      ...gone,
      behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } },
      leave: { afterText: '" is"' },
      pays: { counted: FIRST_WORDS },
    },
  ],
];

/** Requests that are refused before any provider is called. */
export const REFUSED: readonly (readonly [name: string, refusal: Refusal])[] = [
  ['400', { status: 400, body: { max_tokens: -1 } }],
  ['401', { status: 401, secret: 'sk-tg-unknown' }],
  ['403 for the model', { status: 403, settings: { models: ['mock/free'] } }],
  ['403 for the balance', { status: 403, creditUsd: '0.0001', body: { max_tokens: 100 } }],
  ['404', { status: 404, body: { model: 'mock/none' } }],
  ['429', { status: 429, settings: { tokensPerMinute: 1 } }],
];

/** A request that is refused, and with which status. */
export interface Refusal {
  readonly status: number;
  readonly body?: JsonObject;
  readonly secret?: string;
  readonly creditUsd?: string;
  readonly settings?: Partial<KeySettings>;
}
