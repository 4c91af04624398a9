import { isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../openai/types.ts';
import { writeDetailedUsage } from '../../openai/usage.ts';
import { CallerTools, writeCall } from '../caller-tools.ts';
import { readFreeText } from '../custom-tools.ts';
import { writeCompletion, writeMessage } from '../write-answer.ts';
import { parseObject } from '../parse-object.ts';
import { ProviderFault, type DecodedReply, type ReplyContext } from '../dialect.ts';
import { keepReasoning } from './carried.ts';
import { decodeCitations } from './decode-citations.ts';
import { decodeFinish } from './decode-finish.ts';
import { encodeToolName } from './tool-names.ts';
import { decodeUsage } from './decode-usage.ts';

/** Decodes a complete answer. */
export function decodeReply(text: string, context: ReplyContext): DecodedReply {
  const body = parseObject(text, '"toolUse"');
  const message = isObject(body['output']) ? body['output']['message'] : undefined;
  if (!isObject(message) || !Array.isArray(message['content'])) throw new ProviderFault('The provider answered without a message');
  const said = readBlocks(message['content'].filter(isObject), context);
  const finish = decodeFinish(body['stopReason'], said.toolCalls.length > 0);
  const completion = writeCompletion(context, [{ message: writeMessage(said), finish }]);
  const usage = decodeUsage(body['usage']);
  if (usage !== undefined) completion['usage'] = writeDetailedUsage(usage);
  return {
    body: completion,
    usage,
    outputText: said.text + said.reasoning + said.called,
    carried: said.carried,
  };
}

interface DecodedBlocks {
  readonly text: string;
  readonly reasoning: string;
  /** The name and input of each tool call, as the model wrote them. */
  readonly called: string;
  readonly toolCalls: readonly JsonObject[];
  readonly annotations: readonly JsonObject[];
  readonly carried: ReadonlyMap<string, string>;
}

function readBlocks(blocks: readonly JsonObject[], context: ReplyContext): DecodedBlocks {
  const tools = new CallerTools(context.chat, encodeToolName);
  const toolCalls: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  const carried = new Map<string, string>();
  let signed: JsonObject[] = [];
  let text = '';
  let reasoning = '';
  let called = '';
  for (const block of blocks) {
    const thought = block['reasoningContent'];
    const use = block['toolUse'];
    if (typeof block['text'] === 'string') text += block['text'];
    const cited = citedText(block['citationsContent']);
    annotations.push(...decodeCitations(block['citationsContent'], { start: text.length, end: text.length + cited.length }));
    text += cited;
    if (isObject(thought)) {
      reasoning += textOfThought(thought);
      if (isSigned(thought)) signed.push(block);
    }
    if (isObject(use) && use['type'] !== 'server_tool_use') {
      const id = String(use['toolUseId']);
      toolCalls.push(writeToolCall(id, use, tools));
      called += String(use['name']) + JSON.stringify(use['input'] ?? {});
      if (signed.length > 0) carried.set(id, keepReasoning(signed, context));
      signed = [];
    }
  }
  return { text, reasoning, called, toolCalls, annotations, carried };
}

function writeToolCall(id: string, use: JsonObject, tools: CallerTools): JsonObject {
  const name = String(use['name']);
  const tool = tools.find(name);
  const input = objectOf(use['input']);
  return writeCall(id, tool, tool.type === 'custom' ? readFreeText(input) : tools.fieldsOf(name).decode(JSON.stringify(input)));
}

function textOfThought(thought: JsonObject): string {
  return textOf(objectOf(thought['reasoningText'])['text']);
}

/** Only signed or redacted reasoning is sent back. Other reasoning, if sent back, shows up in answers. */
function isSigned(thought: JsonObject): boolean {
  const said = thought['reasoningText'];
  return thought['redactedContent'] !== undefined || (isObject(said) && typeof said['signature'] === 'string');
}

function citedText(cited: unknown): string {
  const parts = objectsOf(objectOf(cited)['content']);
  return parts.map((part) => textOf(part['text'])).join('');
}
