import { isObject, objectsOf, type JsonObject } from '../openai/types.ts';

/** A call of a stream, as far as it has come. */
interface OpenCall {
  readonly index: number;
  readonly id: unknown;
  readonly name: unknown;
  hasArguments: boolean;
}

/**
 * Completes tool calls for clients: each needs an id, a type and arguments that are JSON, and in a stream an index. Hosts leave
 * out the index and the type, the id, or the arguments of a tool that has none; some write arguments as an object.
 */
export class ToolCallMender {
  readonly #requestId: string;
  /** The calls of each choice of a stream. */
  readonly #calls = new Map<unknown, OpenCalls>();

  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  /** Changes a message in place. */
  mendMessage(message: JsonObject, choice: unknown): void {
    objectsOf(message['tool_calls']).forEach((call, index) => {
      call['id'] = hasId(call) ? call['id'] : this.#makeId(choice, index);
      call['type'] ??= 'function';
      const { function: called } = call;
      if (isObject(called)) called['arguments'] = writeArguments(called['arguments']) || '{}';
    });
    if (Array.isArray(message['tool_calls']) && message['tool_calls'].length === 0) delete message['tool_calls'];
  }

  /**
   * Changes a delta in place. Calls that got no arguments get empty ones: when a later delta begins another call, since clients
   * take the one before for complete then, or at the end of the choice. Calls that begin together may get theirs in turn.
   */
  mendDelta(delta: JsonObject, choice: unknown, isEnd: boolean): void {
    if (!isEnd && !Array.isArray(delta['tool_calls'])) return;
    const calls = this.#calls.get(choice) ?? new OpenCalls();
    const silent = calls.listSilent();
    const pieces = objectsOf(delta['tool_calls']);
    const known = calls.byIndex.size;
    if (pieces.length > 0) this.#calls.set(choice, calls);
    for (const call of pieces) this.#mendPiece(call, calls, choice);
    const before = calls.byIndex.size > known ? silent.filter(isSilent).map(giveNothing) : [];
    const after = isEnd ? this.end(choice) : [];
    if (before.length + after.length > 0) delta['tool_calls'] = [...before, ...pieces, ...after];
  }

  /** The choice has ended: the pieces that complete its calls. */
  end(choice: unknown): JsonObject[] {
    const silent = this.#calls.get(choice)?.listSilent() ?? [];
    this.#calls.delete(choice);
    return silent.map(giveNothing);
  }

  /** The first piece of a call names it, and needs what clients know it by; every other piece goes on. */
  #mendPiece(call: JsonObject, calls: OpenCalls, choice: unknown): void {
    const called = isObject(call['function']) ? call['function'] : {};
    const { name } = called;
    const index = calls.placeOf(call, name);
    call['index'] = index;
    let open = calls.byIndex.get(index);
    if (open === undefined && (hasId(call) || isText(name))) {
      call['id'] = hasId(call) ? call['id'] : this.#makeId(choice, index);
      call['type'] ??= 'function';
      called['arguments'] ??= '';
      // What a custom tool gets is text, and none is none.
      open = { index, id: call['id'], name, hasArguments: !isObject(call['function']) };
      calls.byIndex.set(index, open);
    } else if (open !== undefined) {
      // Said once: some clients join whatever comes again.
      for (const field of ['id', 'type']) delete call[field];
      if (open.name === name || !isText(name)) delete called['name'];
    }
    if (called['arguments'] === undefined) return;
    called['arguments'] = writeArguments(called['arguments']);
    if (open !== undefined) open.hasArguments ||= called['arguments'] !== '';
  }

  /** Clients that keep several choices tell their calls apart by id as well. */
  #makeId(choice: unknown, index: number): string {
    return `call_${this.#requestId}_${choice === 0 ? '' : `${String(choice)}_`}${index}`;
  }
}

/** The calls of one choice of a stream, by the index that the caller is told. */
class OpenCalls {
  readonly byIndex = new Map<number, OpenCall>();
  /** Some hosts give the same index to every call: which of them each index stands for now. */
  readonly #meant = new Map<number, number>();

  /** The calls without arguments so far. */
  listSilent(): OpenCall[] {
    return [...this.byIndex.values()].filter(isSilent);
  }

  placeOf(call: JsonObject, name: unknown): number {
    const { index } = call;
    if (typeof index !== 'number') return this.#placeWithoutIndex(call, name);
    const place = this.#meant.get(index) ?? index;
    const open = this.byIndex.get(place);
    // Others give each piece an id of its own, but only a call that begins has a name as well.
    if (open === undefined || !hasId(call) || !isText(name) || open.id === call['id']) return place;
    const other = this.#placeById(call['id']) ?? Math.max(...this.byIndex.keys()) + 1;
    this.#meant.set(index, other);
    return other;
  }

  /** An id that is new is the next call, and so is another name; everything else belongs to the last one. */
  #placeWithoutIndex(call: JsonObject, name: unknown): number {
    const known = this.#placeById(call['id']);
    if (known !== undefined) return known;
    const last = [...this.byIndex].at(-1);
    const isNext = last === undefined || hasId(call) || (isText(name) && name !== last[1].name);
    return isNext ? this.byIndex.size : last[0];
  }

  #placeById(id: unknown): number | undefined {
    return [...this.byIndex].find(([, open]) => open.id === id)?.[0];
  }
}

function isSilent({ hasArguments }: OpenCall): boolean {
  return !hasArguments;
}

/** The piece that completes a call of a tool that takes nothing. */
function giveNothing(call: OpenCall): JsonObject {
  call.hasArguments = true;
  return { index: call.index, function: { arguments: '{}' } };
}

function hasId({ id }: JsonObject): boolean {
  return isText(id);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function writeArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}
