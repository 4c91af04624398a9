import { describe, expect, test } from 'bun:test';
import OpenAI, { type APIError } from 'openai';
import { failureOf } from '../simulator/failure.ts';
import { errorBody } from '../simulator/wire.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';
import { until } from '../until.ts';

/** A running server notices the changes of a command within a second. The wait is longer because other tests run in parallel. */
const NOTICED_WITHIN_MS = 2500;

const stage = new OpenAiStage();

/** Returns a client that records when each of its attempts began. */
function countAttempts(of: OpenAI, maxRetries: number): { retrying: OpenAI; attempts: number[] } {
  const attempts: number[] = [];
  const recordingFetch = (...args: Parameters<typeof fetch>): ReturnType<typeof fetch> => {
    attempts.push(performance.now());
    return fetch(...args);
  };
  return { retrying: of.withOptions({ fetch: recordingFetch, maxRetries }), attempts };
}

async function isRefused(attempt: PromiseLike<unknown>): Promise<boolean> {
  return attempt.then(
    () => false,
    () => true,
  );
}

async function expectRefusal(attempt: PromiseLike<unknown>, expected: { of: unknown; fields: object }): Promise<void> {
  const failure = (await failureOf(attempt)) as APIError;
  expect(failure).toBeInstanceOf(expected.of);
  expect(failure.requestID).toMatch(/^\S+$/u);
  expect(failure).toMatchObject({ param: null, type: 'invalid_request_error', ...expected.fields });
}

describe('each refusal is its own error class', () => {
  test('400 for a request without messages', async () => {
    await expectRefusal(stage.client.chat.completions.create({ model: 'mock/gpt' } as typeof CHAT), {
      of: OpenAI.BadRequestError,
      fields: { status: 400, code: 'missing_required_parameter', param: 'messages' },
    });
    expect(stage.simulator.requests).toEqual([]);
  });

  test('400 for a request that the provider refuses, in its own words', async () => {
    const body = errorBody({ message: 'Too spicy.', type: 'invalid_request_error', param: 'top_p', code: 'unsupported_value' });
    stage.simulator.next({ type: 'status', status: 400, body });
    await expectRefusal(stage.client.chat.completions.create(CHAT), {
      of: OpenAI.BadRequestError,
      fields: { status: 400, message: expect.stringContaining('Too spicy.'), param: 'top_p', code: 'unsupported_value' },
    });
  });

  test('401 for a key that does not exist', async () => {
    const stranger = stage.client.withOptions({ apiKey: 'sk-tg-nobody' });
    const fields = { status: 401, code: 'invalid_api_key' };
    await expectRefusal(stranger.chat.completions.create(CHAT), { of: OpenAI.AuthenticationError, fields });
    await expectRefusal(stranger.models.list(), { of: OpenAI.AuthenticationError, fields });
  });

  test('401 for a deleted, a rotated and an expired key', async () => {
    const expires = new Date(Date.now() + 6000);
    const [deleted, rotated, expired] = await Promise.all([
      stage.gate.makeKey(),
      stage.gate.makeKey(),
      stage.gate.makeKey({ expires: expires.toISOString() }),
    ]);
    await stage.gate.run('key', 'delete', deleted.id);
    const successor = await stage.gate.run('key', 'rotate', rotated.id);
    for (const key of [deleted, rotated, expired]) {
      const holder = stage.client.withOptions({ apiKey: key.secret });
      await until(() => isRefused(holder.models.list()));
      await expectRefusal(holder.models.list(), { of: OpenAI.AuthenticationError, fields: { status: 401, code: 'invalid_api_key' } });
    }
    const renewed = stage.client.withOptions({ apiKey: String(successor['secret']) });
    expect((await renewed.models.list()).data.length).toBeGreaterThan(0);
  });

  test('none for a rotated key during its overlap', async () => {
    const key = await stage.gate.makeKey();
    const { secret } = await stage.gate.run('key', 'rotate', key.id, '--overlap', '1h');
    await Bun.sleep(NOTICED_WITHIN_MS);
    for (const apiKey of [key.secret, String(secret)]) {
      expect((await stage.client.withOptions({ apiKey }).models.list()).data.length).toBeGreaterThan(0);
    }
  });

  test('403 for a model that the key may not use', async () => {
    const restricted = await stage.connect({ models: 'mock/free' });
    await expectRefusal(restricted.chat.completions.create(CHAT), {
      of: OpenAI.PermissionDeniedError,
      fields: { status: 403, code: 'model_not_allowed' },
    });
  });

  test('403 for a suspended account, until it is resumed', async () => {
    const key = await stage.gate.makeKey();
    const holder = stage.client.withOptions({ apiKey: key.secret });
    await holder.chat.completions.create(CHAT);
    await stage.gate.run('account', 'suspend', '--email', key.email);
    await until(() => isRefused(holder.models.list()));
    await expectRefusal(holder.chat.completions.create(CHAT), {
      of: OpenAI.PermissionDeniedError,
      fields: { status: 403, code: 'account_suspended' },
    });
    await stage.gate.run('account', 'resume', '--email', key.email);
    await until(async () => !(await isRefused(holder.models.list())));
    expect((await holder.chat.completions.create(CHAT)).object).toBe('chat.completion');
  });

  test('403 for an empty balance, but free models stay free', async () => {
    const broke = await stage.connect({ creditUsd: '0' });
    await expectRefusal(broke.chat.completions.create(CHAT), {
      of: OpenAI.PermissionDeniedError,
      fields: { status: 403, code: 'insufficient_quota', type: 'insufficient_quota' },
    });
    expect(stage.simulator.requests).toEqual([]);
    expect((await broke.chat.completions.create({ ...CHAT, model: 'mock/free' })).model).toBe('mock/free');
  });

  test('404 for an unknown model', async () => {
    await expectRefusal(stage.client.chat.completions.create({ ...CHAT, model: 'mock/unknown' }), {
      of: OpenAI.NotFoundError,
      fields: { status: 404, code: 'model_not_found' },
    });
  });

  test('404 for the Responses API, with advice', async () => {
    await expectRefusal(stage.client.responses.create({ model: 'mock/gpt', input: 'Hi' }), {
      of: OpenAI.NotFoundError,
      fields: { status: 404, code: 'unknown_url', message: expect.stringContaining('set your client to chat completions') },
    });
  });

  test.each([
    ['with another version', '/v2', 'Is the base URL set to …/v1?'],
    ['with /v1 twice', '/v1/v1', 'Leave out of the base URL what your client adds by itself.'],
    ['with the operation', '/v1/chat/completions', 'Leave out of the base URL what your client adds by itself.'],
  ])('404 for a base URL %s, with advice', async (_, path, advice) => {
    const lost = new OpenAI({ baseURL: `${stage.gate.origin}${path}`, apiKey: stage.key.secret });
    const refusal = {
      of: OpenAI.NotFoundError,
      fields: { status: 404, code: 'unknown_url', message: expect.stringContaining(advice) },
    };
    await expectRefusal(lost.chat.completions.create(CHAT), refusal);
    await expectRefusal(lost.models.list(), refusal);
  });

  test('404 for an unsupported operation, without advice about a correct base URL', async () => {
    await expectRefusal(stage.client.embeddings.create({ model: 'mock/gpt', input: 'Hi' }), {
      of: OpenAI.NotFoundError,
      fields: { status: 404, code: 'unknown_url', message: expect.not.stringContaining('base URL') },
    });
  });

  test('404 for the base URL itself, without advice to correct it', async () => {
    for (const path of ['', '/']) {
      const response = await fetch(`${stage.gate.baseUrl}${path}`);
      expect(response.status).toBe(404);
      const { error } = (await response.json()) as { error: { message: string } };
      expect(error.message).toEndWith('The operations are POST /v1/chat/completions and GET /v1/models.');
    }
  });

  test('429 for more requests per minute than the key may make', async () => {
    const hurried = await stage.connect({ rpm: 2 });
    await hurried.chat.completions.create(CHAT);
    await hurried.chat.completions.create(CHAT);
    const failure = await failureOf(hurried.chat.completions.create(CHAT));
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure).toMatchObject({ status: 429, type: 'requests', param: null, code: 'rate_limit_exceeded' });
    expect((failure as APIError).headers?.get('retry-after')).toMatch(/^[1-9]\d*$/u);
    expect(stage.simulator.requests).toHaveLength(2);
  });

  test('500 for a provider that failed', async () => {
    stage.simulator.always({ type: 'status', status: 503, body: 'upstream connect error' });
    await expectRefusal(stage.client.chat.completions.create(CHAT), {
      of: OpenAI.InternalServerError,
      fields: { status: 500, type: 'server_error', code: expect.any(String) },
    });
  });

  test('an error before the first token of a stream is an ordinary error', async () => {
    stage.simulator.always({ type: 'error_in_200' });
    await expectRefusal(stage.client.chat.completions.create({ ...CHAT, stream: true }), {
      of: OpenAI.InternalServerError,
      fields: { status: 500, type: 'server_error', code: expect.any(String) },
    });
  });

  test('an error after the first token ends the stream with an APIError', async () => {
    stage.simulator.always({ type: 'error_event', chunks: 4 });
    const received: OpenAI.ChatCompletionChunk[] = [];
    const reading = async (): Promise<void> => {
      for await (const chunk of await stage.client.chat.completions.create({ ...CHAT, stream: true })) received.push(chunk);
    };
    const failure = await failureOf(reading());
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure).toMatchObject({ status: undefined, type: 'server_error', code: expect.any(String) });
    expect(received).toHaveLength(4);
    expect(received.every((chunk) => chunk.choices[0]?.finish_reason === null)).toBe(true);
  });
});

describe('retries', () => {
  test('wait as long as the provider asked', async () => {
    const body = errorBody({ message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' });
    stage.simulator.next({ type: 'status', status: 429, body, headers: { 'retry-after': '1' } });
    const { retrying, attempts } = countAttempts(stage.client, 2);
    expect((await retrying.chat.completions.create(CHAT)).object).toBe('chat.completion');
    expect(attempts).toHaveLength(2);
    expect((attempts[1] as number) - (attempts[0] as number)).toBeWithin(950, 4000);
    expect(stage.simulator.requests).toHaveLength(2);
  });

  test('wait as long as the gate asked when too many requests run at once', async () => {
    const { retrying, attempts } = countAttempts(await stage.connect({ concurrent: 1 }), 2);
    stage.simulator.next({ type: 'pace', gapMs: 20 });
    const first = await retrying.chat.completions.create({ ...CHAT, stream: true });
    const second = retrying.chat.completions.create(CHAT).then((completion) => completion.object);
    await Array.fromAsync(first);
    expect(await second).toBe('chat.completion');
    // A stream that takes longer than the wait causes one more attempt.
    expect(attempts.length).toBeWithin(3, 5);
    expect((attempts[2] as number) - (attempts[1] as number)).toBeGreaterThan(950);
  });

  test('do not happen for a request that can never fit its limit', async () => {
    const { retrying, attempts } = countAttempts(await stage.connect({ tpm: 100 }), 2);
    const messages = [{ role: 'user' as const, content: 'word '.repeat(2000) }];
    const failure = await failureOf(retrying.chat.completions.create({ ...CHAT, messages }));
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure).toMatchObject({ status: 429, type: 'tokens', code: 'rate_limit_exceeded' });
    expect((failure as APIError).headers?.get('x-should-retry')).toBe('false');
    expect(attempts).toHaveLength(1);
    expect(stage.simulator.requests).toEqual([]);
  });

  test('happen after a 500 and then succeed', async () => {
    stage.simulator.next({ type: 'status', status: 502, body: '' });
    const { retrying, attempts } = countAttempts(stage.client, 2);
    expect((await retrying.chat.completions.create(CHAT)).object).toBe('chat.completion');
    expect(attempts.length).toBeWithin(1, 3);
  });
});
