import type { ReplyContext } from '../../../src/providers/dialect.ts';

const TOOLS = [
  { type: 'function', function: { name: 'files.read' } },
  { type: 'custom', custom: { name: 'patch' } },
];
/** The context of a Claude answer whose request offered a tool of each type. */
export const CONTEXT: ReplyContext = {
  modelId: 'mock/claude',
  providerModel: 'eu.anthropic.claude',
  wantsUsage: false,
  chat: { model: 'm', messages: [], tools: TOOLS },
  requestId: 'r1',
  createdSeconds: 1_790_000_000,
};
/** A cited page, as sent by Converse and as seen by callers. */
export const CITATION = { title: 'A', location: { web: { url: 'https://a.example', domain: 'a.example' } } };
export const CITED = { type: 'url_citation', url_citation: { start_index: 4, end_index: 7, url: 'https://a.example', title: 'A' } };
export const USAGE = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
/** Signed reasoning, and redacted reasoning. */
export const THOUGHT = { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } };
export const HIDDEN = { reasoningContent: { redactedContent: Buffer.from('hidden').toString('base64') } };
