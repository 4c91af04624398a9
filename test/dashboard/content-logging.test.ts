import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { openUsageStage, type UsageStage } from '../browser/usage-stage.ts';
import { until } from '../until.ts';
import { describeStores, type Store } from './stores.ts';

interface Content {
  readonly request: string;
  readonly answer: string;
}

describeStores((makeStore) => {
  let store: Store;
  let stage: UsageStage;

  beforeAll(async () => {
    store = await makeStore();
    stage = await openUsageStage(store);
  }, 120_000);
  afterAll(async () => {
    await stage.stop();
    await store.remove();
  });

  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(stage.url + path, {
      ...init,
      headers: { origin: stage.url, cookie: `${stage.cookie.name}=${stage.cookie.value}`, 'content-type': 'application/json' },
    });

  async function say(text: string, isStreaming: boolean): Promise<string> {
    const client = new OpenAI({ baseURL: `${stage.url}/v1`, apiKey: stage.secret });
    const request = { model: 'sandbox/echo', messages: [{ role: 'user' as const, content: text }] };
    if (!isStreaming) return (await client.chat.completions.create(request).withResponse()).response.headers.get('x-request-id') ?? '';
    const { data, response } = await client.chat.completions.create({ ...request, stream: true }).withResponse();
    for await (const chunk of data) void chunk;
    return response.headers.get('x-request-id') ?? '';
  }

  const contentOf = async (id: string): Promise<Content | null> =>
    ((await (await ask(`/api/requests/${id}`)).json()) as { content: Content | null }).content;

  test('prompts and answers are recorded only after the account turns it on, whole and streamed', async () => {
    const silent = await say('the secret before', false);
    await ask('/api/requests/logging', { method: 'PUT', body: JSON.stringify({ days: 3 }) });
    // Recording runs in the background, and a changed setting takes effect after a moment.
    const whole = await until(async () => {
      const id = await say('the words after', false);
      await Bun.sleep(1500);
      return contentOf(id);
    });
    expect(JSON.parse(whole.request)).toMatchObject({ model: 'sandbox/echo', messages: [{ content: 'the words after' }] });
    expect(whole.answer).toContain('the words after');
    const streamed = await say('streamed words', true);
    expect((await until(() => contentOf(streamed))).answer).toContain('streamed words');
    expect(await contentOf(silent)).toBeNull();
  }, 120_000);

  test('a failed request records the body of its error and shows its headers', async () => {
    const answer = await fetch(`${stage.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'stage/gone', messages: [{ role: 'user', content: 'Is anybody there?' }] }),
    });
    const body: unknown = await answer.json();
    const id = answer.headers.get('x-request-id') ?? '';
    const content = await until(() => contentOf(id));
    expect(JSON.parse(content.answer)).toEqual(body);
    const { headers } = (await (await ask(`/api/requests/${id}`)).json()) as { headers: readonly { name: string; value: string }[] };
    expect(headers.map(({ name }) => name)).toEqual(['x-request-id', 'content-type']);
    for (const { name, value } of headers) expect([name, answer.headers.get(name)]).toEqual([name, value]);
  }, 120_000);

  test('the headers of whole and streamed responses are shown as they were sent', async () => {
    for (const stream of [false, true]) {
      const answer = await fetch(`${stage.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'stage/story', stream, messages: [{ role: 'user', content: 'A story' }] }),
      });
      await answer.text();
      const detail = await (await ask(`/api/requests/${answer.headers.get('x-request-id')}`)).json();
      const { headers } = detail as { headers: readonly { name: string; value: string }[] };
      expect(headers).toHaveLength(stream ? 2 : 3);
      for (const { name, value } of headers) expect([name, answer.headers.get(name)]).toEqual([name, value]);
    }
  }, 120_000);
});
