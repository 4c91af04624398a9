import { afterAll, describe, expect, test } from 'bun:test';
import { closeCounter, countTokens } from '../../src/gateway/count-tokens.ts';
import type { ChatRequest } from '../../src/openai/types.ts';

afterAll(closeCounter);

const HELLO: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hello there' }] };
const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

/** A request whose message says this. */
function saying(content: string): ChatRequest {
  return { ...HELLO, messages: [{ role: 'user', content }] };
}

/** The machine may be busy with other tests, and the thread has to start. */
const PATIENCE_MS = 50_000;

describe('our own count', () => {
  test('is of the messages, the tools and the answer', async () => {
    expect(await countTokens(HELLO, 'Hi!', PATIENCE_MS)).toMatchObject({ inputTokens: 3 + 4 + 2, outputTokens: 2 });
    expect((await countTokens({ ...HELLO, tools: [{ type: 'function' }] }, ''))?.inputTokens).toBeGreaterThan(9);
  });

  test('takes numbers that keep their digits as they were written, which no thread can be handed', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { maximum: rawJson('9223372036854775807') } } }];
    expect((await countTokens({ ...HELLO, tools }, 'Hi!'))?.inputTokens).toBeGreaterThan(20);
  });

  test('of a long text is that of its words, though it is counted in pieces', async () => {
    const one = (await countTokens(saying(' word'), ''))?.inputTokens ?? 0;
    const many = (await countTokens(saying(' word'.repeat(2000)), ''))?.inputTokens ?? 0;
    expect(many - 7).toBe(2000 * (one - 7));
  });

  test.each([
    ['letters', 'a'],
    ['line ends', '\n'],
    ['blanks', ' '],
    ['signs without blanks between them', '漢'],
  ])('of a long row of %s takes no longer than others', async (_, sign) => {
    const beganAtMs = performance.now();
    expect((await countTokens(saying(sign.repeat(40_000)), ''))?.inputTokens).toBeGreaterThan(7);
    expect(performance.now() - beganAtMs).toBeLessThan(9000);
  });

  test('that takes too long ends, and keeps nobody else waiting', async () => {
    // No word comes twice, so that nothing can be remembered.
    const letters = Array.from({ length: 1_000_000 }, (_, index) => Math.imul(index, 2_654_435_761).toString(36)).join('');
    const [endless, waiting] = [countTokens(saying(letters), '', 300), countTokens(HELLO, 'Hi!')];
    expect(await endless).toBeUndefined();
    expect(await waiting).toBeUndefined();
    expect(await countTokens(HELLO, 'Hi!', PATIENCE_MS)).toMatchObject({ outputTokens: 2 });
  });
});
