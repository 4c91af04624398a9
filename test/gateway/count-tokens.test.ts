import { afterAll, describe, expect, test } from 'bun:test';
import { closeCounter, countTokens } from '../../src/gateway/count-tokens.ts';
import type { ChatRequest } from '../../src/openai/types.ts';

afterAll(() => closeCounter());

const HELLO: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hello there' }] };
const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** Returns a request with this message. */
function saying(content: string): ChatRequest {
  return { ...HELLO, messages: [{ role: 'user', content }] };
}

function call(name: string, id: number): object {
  return { id: `call_0123456789abcdef_${id}`, type: 'function', function: { name, arguments: '{"city":"Rome"}' } };
}

/** Generous, because the machine may be busy with other tests and the thread has to start. */
const PATIENCE_MS = 50_000;

/** No word appears twice, so nothing can be cached. */
const SLOW_TEXT = Array.from({ length: 1_000_000 }, (_, index) => Math.imul(index, 2_654_435_761).toString(36)).join('');

describe('counting tokens ourselves', () => {
  test('includes the messages, the tools and the answer', async () => {
    expect(await countTokens(HELLO, 'Hi!', PATIENCE_MS)).toMatchObject({ inputTokens: 3 + 4 + 2, outputTokens: 2 });
    expect((await countTokens({ ...HELLO, tools: [{ type: 'function' }] }, ''))?.inputTokens).toBeGreaterThan(9);
  });

  test.each<[string, ChatRequest['messages'][number], string]>([
    ['a call', { role: 'assistant', content: null, tool_calls: [call('f', 1), call('g', 2)] }, 'f{"city":"Rome"}g{"city":"Rome"}'],
    [
      'a custom tool',
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '+x' } }] },
      'patch+x',
    ],
    ['a legacy call', { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }, 'f{}'],
    ['a refusal', { role: 'assistant', content: null, refusal: 'No, thank you' }, 'No, thank you'],
    ['a part with a refusal', { role: 'assistant', content: [{ type: 'refusal', refusal: 'No, thank you' }] }, 'No, thank you'],
  ])('counts %s that is sent back as what the model wrote', async (_, message, written) => {
    const counted = await countTokens({ ...HELLO, messages: [message] }, written, PATIENCE_MS);
    expect(counted?.inputTokens).toBe(3 + 4 + (counted?.outputTokens ?? 0));
  });

  test('counts legacy functions like tools', async () => {
    const declared = { name: 'f', description: 'Finds a city' };
    const counts = [{ tools: [declared] }, { functions: [declared] }].map((offer) => countTokens({ ...HELLO, ...offer }, '', PATIENCE_MS));
    const [tools, functions] = await Promise.all(counts);
    expect(functions?.inputTokens).toBe(tools?.inputTokens ?? 0);
    expect(functions?.inputTokens).toBeGreaterThan(15);
  });

  test('accepts numbers that keep their original digits, which cannot be sent to a thread', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { maximum: rawJson('9223372036854775807') } } }];
    expect((await countTokens({ ...HELLO, tools }, 'Hi!'))?.inputTokens).toBeGreaterThan(20);
  });

  test('of a long text in pieces gives the same count', async () => {
    const one = (await countTokens(saying(' word'), ''))?.inputTokens ?? 0;
    const many = (await countTokens(saying(' word'.repeat(2000)), ''))?.inputTokens ?? 0;
    expect(many - 7).toBe(2000 * (one - 7));
  });

  test.each([
    ['letters', 'a'],
    ['line ends', '\n'],
    ['spaces', ' '],
    ['characters without spaces between them', '漢'],
  ])('does not slow down with a long run of %s', async (_, character) => {
    const beganAtMs = performance.now();
    expect((await countTokens(saying(character.repeat(40_000)), ''))?.inputTokens).toBeGreaterThan(7);
    expect(performance.now() - beganAtMs).toBeLessThan(9000);
  });

  test('is abandoned when it takes too long, and blocks no other count', async () => {
    const [endless, waiting] = [countTokens(saying(SLOW_TEXT), '', 300), countTokens(HELLO, 'Hi!')];
    expect(await endless).toBeUndefined();
    expect(await waiting).toBeUndefined();
    expect(await countTokens(HELLO, 'Hi!', PATIENCE_MS)).toMatchObject({ outputTokens: 2 });
  });

  test('is awaited by a shutdown, but not when it takes too long: then the estimate must be charged before the ledger closes', async () => {
    const [short, slow] = [countTokens(HELLO, 'Hi!', PATIENCE_MS), countTokens(saying(SLOW_TEXT), '', PATIENCE_MS)];
    let isCharged = false;
    const charged = slow.then(async (counted) => {
      await Promise.resolve();
      isCharged = counted === undefined;
    });
    expect(await short).toMatchObject({ outputTokens: 2 });
    await closeCounter(50);
    expect(isCharged).toBe(true);
    await charged;
    const last = countTokens(HELLO, 'Hi!', PATIENCE_MS);
    await closeCounter(PATIENCE_MS);
    expect(await last).toMatchObject({ outputTokens: 2 });
  });
});
