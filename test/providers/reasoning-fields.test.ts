import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import type { DialectName } from '../../src/providers/dialect-names.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';

function encode(dialect: DialectName, host: string | undefined, model: string, fields: JsonObject): { body: JsonObject; dropped: unknown } {
  const target = {
    baseUrl: 'http://a',
    apiKey: 'k',
    model,
    outputTokensMax: undefined,
    host: host === undefined ? undefined : HOSTS[host],
  };
  const { body, dropped = [] } = DIALECTS[dialect].encodeRequest(
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields },
    target,
  );
  return { body: JSON.parse(body) as JsonObject, dropped };
}

describe('the fields for reasoning of other APIs', () => {
  test.each<[JsonObject, string | undefined, readonly string[]]>([
    [{ reasoning: { effort: 'high' } }, 'high', []],
    [{ reasoning: { effort: 'none' } }, 'none', []],
    [{ reasoning: { enabled: false } }, 'none', []],
    [{ reasoning: { enabled: true, exclude: true } }, 'medium', ['reasoning.exclude']],
    [{ reasoning: { max_tokens: 2048 } }, 'low', ['reasoning.max_tokens']],
    [{ reasoning: { summary: 'auto' } }, undefined, ['reasoning']],
    [{ reasoning: { effort: 'constructor' } }, undefined, ['reasoning']],
    [{ thinking: { type: 'disabled' } }, 'none', []],
    [{ thinking: { type: 'adaptive' } }, 'medium', []],
    [{ thinking: { type: 'enabled', budget_tokens: 8192 } }, 'medium', ['thinking.budget_tokens']],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, 'high', ['thinking.budget_tokens']],
    [{ thinking: { type: 'enabled', budget_tokens: 0 } }, 'none', ['thinking.budget_tokens']],
    [{ reasoning_effort: 'low', reasoning: { effort: 'low' } }, 'low', []],
    [{ reasoning_effort: 'low', thinking: { type: 'disabled' } }, 'low', ['thinking']],
    [{ reasoning: { effort: 'high' }, thinking: { type: 'enabled' } }, 'high', ['thinking']],
  ])('become an effort: %j', (fields, effort, dropped) => {
    const sent = encode('openai', 'vllm', 'theirs', fields);
    expect(sent.body).toEqual({
      model: 'theirs',
      messages: [{ role: 'user', content: 'Hi' }],
      ...(effort === undefined ? {} : { reasoning_effort: effort }),
    });
    expect(sent.dropped).toEqual(dropped);
  });

  test.each<[DialectName, string | undefined, string, JsonObject]>([
    ['anthropic', undefined, 'claude-opus-5', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }],
    ['gemini', undefined, 'gemini-3.6-flash', { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } } }],
    ['openai', 'moonshot', 'kimi-k2.6', { thinking: { type: 'enabled' } }],
    ['azure', undefined, 'gpt-5', { reasoning_effort: 'high' }],
  ])('reach %s, host %p, %s', (dialect, host, model, expected) => {
    const sent = encode(dialect, host, model, { reasoning: { effort: 'high' } });
    expect(sent.body).toMatchObject(expected);
    expect(sent.body).not.toHaveProperty('reasoning');
    expect(sent.dropped).toEqual([]);
  });

  test('stay as they are where the host knows them, or has no row', () => {
    const reasoning = { max_tokens: 5000 };
    const thinking = { type: 'enabled', budget_tokens: 5000 };
    expect(encode('openai', 'openrouter', 'theirs', { reasoning }).body).toMatchObject({ reasoning });
    expect(encode('openai', 'deepseek', 'theirs', { thinking }).body).toMatchObject({ thinking });
    expect(encode('openai', undefined, 'theirs', { reasoning, thinking }).body).toMatchObject({ reasoning, thinking });
  });

  test('are reported under their own name by a model that cannot reason', () => {
    expect(encode('openai', 'openai', 'gpt-4.1', { thinking: { type: 'adaptive' } }).dropped).toEqual(['thinking']);
    expect(encode('anthropic', undefined, 'claude-3-haiku-20240307', { reasoning: { effort: 'low' } }).dropped).toEqual(['reasoning']);
  });
});
