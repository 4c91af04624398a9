import type { JsonObject } from '../../openai/types.ts';
import { CallerTools, writeCall } from '../caller-tools.ts';
import { readFreeText } from '../custom-tools.ts';
import type { ReplyContext } from '../dialect.ts';
import { measureEarlier } from './continuation.ts';
import type { CallPiece } from './decode-candidate.ts';
import type { Service } from './draft.ts';
import { writeCarried, writeExtraContent } from './carried.ts';
import { encodeToolName } from './tool-names.ts';

/** Writes the tool calls of one answer, and keeps what must be sent back with them. */
export class ToolCallWriter {
  readonly carried = new Map<string, string>();
  /** The count of calls, including those from before the answer broke off. */
  count: number;
  readonly #context: ReplyContext;
  readonly #tools: CallerTools;
  readonly #service: Service;

  constructor(context: ReplyContext, service: Service) {
    this.#context = context;
    this.#tools = new CallerTools(context.chat, encodeToolName);
    this.#service = service;
    this.count = measureEarlier(context).toolCalls;
  }

  /** Writes one call in the OpenAI dialect. If Google gave it no id, one is derived from `responseId`, which is unique to the answer. */
  write(call: CallPiece, responseId: unknown): JsonObject {
    const { requestId, choiceIndex } = this.#context;
    // Answers that are combined as choices share the request id.
    const source = typeof responseId === 'string' ? responseId : choiceIndex === undefined ? requestId : `${requestId}_${choiceIndex}`;
    const id = call.id ?? `call_${source}_${this.count}`;
    this.count += 1;
    if (call.signature !== undefined) this.carried.set(id, writeCarried(call.signature, this.#context, this.#service));
    const tool = this.#tools.find(call.name);
    const given = tool.type === 'custom' ? readFreeText(call.args) : JSON.stringify(call.args);
    return { ...writeCall(id, tool, given), ...writeExtraContent(call.signature) };
  }
}

/** Returns the text of a call, for counting. */
export function readCall(call: CallPiece): string {
  return call.name + JSON.stringify(call.args);
}
