import { isObject, textOf, type JsonObject } from '../../openai/types.ts';
import { parseExact } from '../../openai/parse-exact.ts';
import { writeCall, type CallerTools } from '../caller-tools.ts';
import { readFreeText } from '../custom-tools.ts';
import { writeCompletion, writeMessage } from '../write-answer.ts';
import { parseObject } from '../parse-object.ts';
import { ProviderFault, type DecodedReply, type ReplyContext } from '../dialect.ts';
import { keepBlocks } from './carried.ts';
import { decodeCitations } from './decode-citations.ts';
import { decodeFinish, decodeRefusal } from './decode-finish.ts';
import { decodeUsage, writeUsageOf } from './decode-usage.ts';
import { toFault } from './decode-fault.ts';
import type { Block } from './draft.ts';
import type { StreamState } from './open-block.ts';
import { ANSWER_TOOL, callerTools } from './tool-names.ts';

/** Decodes a complete answer. */
export function decodeReply(text: string, context: ReplyContext): DecodedReply {
  const message = parseMessage(text);
  const content = message.content;
  const tools = callerTools(context.chat);
  const earlier = measureEarlier(context, tools);
  const said = decodeContent(content, tools, earlier.textLength);
  const refusal = decodeRefusal(message['stop_reason'], message['stop_details']);
  const finish = decodeFinish(message['stop_reason'], earlier.toolCallCount + said.toolCalls.length);
  const body = writeCompletion(context, [{ message: writeMessage({ ...said, refusal }), finish }]);
  const usage = decodeUsage(message['usage']);
  if (usage !== undefined) body['usage'] = writeUsageOf(usage, message['usage']);
  const all = withEarlier(content, context);
  return {
    body,
    usage,
    outputText: said.output,
    carried: keepBlocks(all, String(message['model'])),
    continuation: message['stop_reason'] === 'pause_turn' ? JSON.stringify(all) : undefined,
  };
}

/** Prepends the content from before the pause to a continued answer. */
export function withEarlier(content: readonly Block[], { continuation }: ReplyContext): readonly Block[] {
  return continuation === undefined ? content : [...(parseExact(continuation) as Block[]), ...content];
}

/** Measures what an answer had said before it was continued. Citation offsets and tool-call numbers continue from there. */
export function measureEarlier(
  context: ReplyContext,
  tools: CallerTools,
): Pick<StreamState, 'textLength' | 'toolCallCount' | 'annotations'> {
  const { text, toolCalls, annotations } = decodeContent(withEarlier([], context), tools, 0);
  return { textLength: text.length, toolCallCount: toolCalls.length, annotations };
}

/** Text that appears in every answer with tool calls, whether of the caller's tools or the provider's. */
export const TOOL_CALL_MARKER = 'tool_use"';

/** Narrows a value to a block: anything without a type is not one. */
export function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value['type'] === 'string';
}

function parseMessage(text: string): JsonObject & { readonly content: readonly Block[] } {
  const value = parseObject(text, TOOL_CALL_MARKER);
  if (isObject(value['error'])) throw toFault(value['error']);
  if (!Array.isArray(value['content'])) throw new ProviderFault('The provider answered without content');
  return { ...value, content: value['content'].filter(isBlock) };
}

interface DecodedContent {
  text: string;
  reasoning: string;
  output: string;
  readonly toolCalls: JsonObject[];
  readonly annotations: JsonObject[];
}

function decodeContent(content: readonly Block[], tools: CallerTools, textStart: number): DecodedContent {
  const said: DecodedContent = { text: '', reasoning: '', output: '', toolCalls: [], annotations: [] };
  for (const block of content) {
    if (block.type === 'text') {
      said.annotations.push(...decodeCitations(block, textStart + said.text.length));
      said.text += textOf(block['text']);
    } else if (block.type === 'thinking') said.reasoning += textOf(block['thinking']);
    else if (block.type === 'tool_use') decodeCall(block, said, tools);
  }
  said.output += said.text + said.reasoning;
  return said;
}

function decodeCall({ id, name: theirs, input }: Block, said: DecodedContent, tools: CallerTools): void {
  const written = JSON.stringify(input ?? {});
  const given = tools.fieldsOf(String(theirs)).decode(written);
  if (theirs === ANSWER_TOOL) {
    said.text += given;
    return;
  }
  const tool = tools.find(String(theirs));
  said.output += tool.name + written;
  said.toolCalls.push(writeCall(id, tool, tool.type === 'custom' ? readFreeText(input) : given));
}
