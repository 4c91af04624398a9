import { isObject, objectOf, objectsOf, type JsonObject } from './types.ts';

/** A tool call as assembled so far. */
interface OpenCall {
  readonly head: JsonObject;
  readonly body: JsonObject;
}

/** Assembles the chunks of a stream with one choice into a whole answer. */
export class AssembledAnswer {
  #envelope: JsonObject = {};
  readonly #message: JsonObject = { role: 'assistant', content: '', refusal: null };
  readonly #calls = new Map<unknown, OpenCall>();
  #functionCall: JsonObject | undefined;
  #logprobs: JsonObject | undefined;
  #finish: unknown = null;

  /** Adds a chunk in the form that the client would get. */
  add(chunk: JsonObject): void {
    const { choices, usage: _, ...envelope } = chunk;
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isObject(choice)) return;
    this.#envelope = envelope;
    this.#finish = choice['finish_reason'] ?? this.#finish;
    if (isObject(choice['logprobs'])) this.#logprobs = joinObjects(this.#logprobs ?? {}, choice['logprobs']);
    if (isObject(choice['delta'])) this.#addDelta(choice['delta']);
  }

  /** Returns the whole answer. Its usage is added when it is charged. */
  read(): JsonObject {
    const calls = [...this.#calls.values()].map(({ head, body }) => ({ ...head, ...body }));
    const message: JsonObject = {
      ...this.#message,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(this.#functionCall === undefined ? {} : { function_call: this.#functionCall }),
    };
    const isSilent = message['content'] === '' && (calls.length > 0 || this.#functionCall !== undefined || message['refusal'] !== null);
    const choice = {
      index: 0,
      message: isSilent ? { ...message, content: null } : message,
      logprobs: this.#logprobs ?? null,
      finish_reason: this.#finish,
    };
    return { ...this.#envelope, object: 'chat.completion', choices: [choice] };
  }

  #addDelta({ tool_calls: calls, function_call: call, ...delta }: JsonObject): void {
    Object.assign(this.#message, joinObjects(this.#message, delta), { role: 'assistant' });
    if (isObject(call)) this.#functionCall = joinObjects(this.#functionCall ?? {}, call);
    for (const piece of objectsOf(calls)) this.#addToolCall(piece);
  }

  /** Adds a piece of a tool call. The first piece identifies the call; the others continue its arguments. */
  #addToolCall({ index, function: called, custom, ...head }: JsonObject): void {
    const known = this.#calls.get(index) ?? { head, body: {} };
    this.#calls.set(index, known);
    if (isObject(called)) known.body['function'] = joinObjects(objectOf(known.body['function']), called);
    if (isObject(custom)) known.body['custom'] = joinObjects(objectOf(known.body['custom']), custom);
  }
}

/** Joins two objects: texts are concatenated, lists appended, and for everything else the later value counts. */
export function joinObjects(one: JsonObject, other: JsonObject): JsonObject {
  const joined: JsonObject = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const earlier = one[name];
    if (value === null) joined[name] ??= null;
    else if (typeof earlier === 'string' && typeof value === 'string') joined[name] = earlier + value;
    else if (Array.isArray(earlier) && Array.isArray(value)) joined[name] = [...(earlier as unknown[]), ...(value as unknown[])];
    else joined[name] = value;
  }
  return joined;
}
