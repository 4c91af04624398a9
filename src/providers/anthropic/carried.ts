import { isObject } from '../../openai/types.ts';
import { parseExact } from '../../openai/parse-exact.ts';
import type { Target } from '../provider.ts';
import type { Block } from './draft.ts';

/**
 * What must come back with the next turn, by tool-call id: the blocks that stood before each call. Thinking is signed
 * and refused when it is changed, so the blocks are kept as they came, with the text between them.
 */
export function keepBlocks(content: readonly Block[], model: string): ReadonlyMap<string, string> {
  const kept = new Map<string, string>();
  // Text and tool calls alone come back through the caller.
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

/** The blocks that were kept for a tool call. Thinking of one model is of no use to another, so it is left out there. */
export function recallBlocks(id: string, { carried, model }: Target): readonly Block[] {
  const text = carried?.get(id);
  if (text === undefined) return [];
  const kept = parseExact(text);
  if (!isObject(kept) || nameOf(String(kept['model'])) !== nameOf(model)) return [];
  return kept['blocks'] as Block[];
}

/** Whether the block is the model's thinking, readable or not. */
export function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Empty text is refused when it is sent back, and so is thinking whose signature did not arrive. */
function isReturnable(block: Block): boolean {
  if (block.type === 'text') return String(block['text']).trim() !== '';
  return block.type !== 'thinking' || (typeof block['signature'] === 'string' && block['signature'] !== '');
}

/** `claude-sonnet-4-5@20250929`, `claude-sonnet-4-5-20250929` and `claude-sonnet-4-5` are one model. */
function nameOf(model: string): string {
  return model.replace(/[-@](?:\d{8}|latest|default)$/, '').replace(/-0$/, '');
}
