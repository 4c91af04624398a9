import { isObject } from '../../openai/types.ts';
import { parseExact } from '../../openai/parse-exact.ts';
import type { Target } from '../dialect.ts';
import type { Block } from './draft.ts';

/**
 * Returns the blocks that must be sent back with the next turn, by the id of the tool call they precede. Thinking is
 * signed and refused if changed, so blocks are kept exactly as received, including the text between them.
 */
export function keepBlocks(content: readonly Block[], model: string): ReadonlyMap<string, string> {
  const kept = new Map<string, string>();
  // Text and tool calls alone come back from the caller.
  if (content.every(({ type }) => type === 'text' || type === 'tool_use')) return kept;
  let before: Block[] = [];
  for (const block of content) {
    if (block.type !== 'tool_use') {
      if (isReturnable(block)) before.push(block);
      continue;
    }
    if (before.length > 0) kept.set(String(block['id']), JSON.stringify({ model, blocks: before }));
    before = [];
  }
  return kept;
}

/** Returns the blocks kept for a tool call. Thinking is useless to any other model, so it is left out there. */
export function recallBlocks(id: string, { carried, model }: Target): readonly Block[] {
  const text = carried?.get(id);
  if (text === undefined) return [];
  const kept = parseExact(text);
  if (!isObject(kept) || nameOf(String(kept['model'])) !== nameOf(model)) return [];
  return kept['blocks'] as Block[];
}

/** True for the model's thinking, readable or redacted. */
export function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Drops blocks that are refused when sent back: empty text, and thinking whose signature did not arrive. */
function isReturnable(block: Block): boolean {
  if (block.type === 'text') return String(block['text']).trim() !== '';
  return block.type !== 'thinking' || (typeof block['signature'] === 'string' && block['signature'] !== '');
}

/** Treats `claude-sonnet-4-5@20250929`, `claude-sonnet-4-5-20250929` and `claude-sonnet-4-5` as one model. */
function nameOf(model: string): string {
  return model.replace(/[-@](?:\d{8}|latest|default)$/, '').replace(/-0$/, '');
}
