import { isObject, objectOf, objectsOf, type JsonObject } from '../openai/types.ts';

/** A tool call of a stream, as received so far. */
interface OpenCall {
  readonly index: number;
  /** The host's id, by which later pieces are recognised. */
  readonly id: unknown;
  readonly name: unknown;
  hasArguments: boolean;
}

/**
 * Completes tool calls for clients: each needs an id, a type and JSON arguments, and in a stream an index. Hosts leave
 * out the index and the type, the id, or the arguments of a tool without parameters. Some send arguments as an object.
 */
export class ToolCallRepairer {
  readonly #requestId: string;
  /** The calls of each choice in a stream. */
  #calls: Map<unknown, OpenCalls> | undefined;
  /** The ids of all calls: clients answer calls by id, so none may have that of another. */
  #ids: Set<unknown> | undefined;

  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  /** Patches a message in place. */
  repairMessage(message: JsonObject, choice: unknown): void {
    if (message['tool_calls'] === undefined) return;
    objectsOf(message['tool_calls']).forEach((call, index) => {
      this.#completeHead(call, choice, index);
      const { function: called } = call;
      if (isObject(called)) called['arguments'] = writeArguments(called['arguments']) || '{}';
    });
    if (Array.isArray(message['tool_calls']) && message['tool_calls'].length === 0) delete message['tool_calls'];
  }

  /**
   * Patches a delta in place. Calls that received no arguments get `{}`: at the end of the choice, or when a later
   * delta starts another call, because clients then consider the previous one complete. Calls that start together may
   * still receive their arguments in turn.
   */
  repairDelta(delta: JsonObject, choice: unknown, isEnd: boolean): void {
    const begun = this.#calls?.get(choice);
    if (!Array.isArray(delta['tool_calls']) && (begun === undefined || !isEnd)) {
      if (isEnd) delete delta['tool_calls'];
      return;
    }
    const calls = begun ?? new OpenCalls();
    const pending = calls.listWithoutArguments();
    const pieces = objectsOf(delta['tool_calls']);
    const known = calls.byIndex.size;
    if (pieces.length > 0) (this.#calls ??= new Map()).set(choice, calls);
    for (const [position, call] of pieces.entries()) this.#mendPiece(call, calls, { choice, position });
    const before = calls.byIndex.size > known ? pending.filter(lacksArguments).map(giveEmptyArguments) : [];
    const after = isEnd ? this.end(choice) : [];
    // Clients expect the first piece of a call to name it, and fail on one with nothing in it.
    const sent = pieces.filter((piece) => calls.byIndex.has(piece['index'] as number) || !isEmptyPiece(piece));
    if (before.length + sent.length + after.length > 0) delta['tool_calls'] = [...before, ...sent, ...after];
    // Clients would keep an empty list and send it back, where it is refused.
    else delete delta['tool_calls'];
  }

  /** Returns the pieces that complete the calls of a choice at its end. Calls that a host sends after it are counted on. */
  end(choice: unknown): JsonObject[] {
    return (this.#calls?.get(choice)?.listWithoutArguments() ?? []).map(giveEmptyArguments);
  }

  /** True when a choice of the stream has called a tool so far. */
  hasCalls(choice: unknown): boolean {
    return (this.#calls?.get(choice)?.byIndex.size ?? 0) > 0;
  }

  /** Patches one piece of a call. The first piece names the call and needs an id and a type; later pieces only continue it. */
  #mendPiece(call: JsonObject, calls: OpenCalls, { choice, position }: { readonly choice: unknown; readonly position: number }): void {
    const called = objectOf(call[isCustom(call) ? 'custom' : 'function']);
    const { name } = called;
    const index = calls.placeOf(call, name, position);
    call['index'] = index;
    let open = calls.byIndex.get(index);
    if (open === undefined && (hasId(call) || isText(name))) {
      // A custom tool's input is plain text and may be empty, so it needs no `{}`.
      open = { index, id: call['id'], name, hasArguments: isCustom(call) };
      this.#completeHead(call, choice, index);
      if (!isCustom(call)) call['function'] = Object.assign(called, { arguments: called['arguments'] ?? '' });
      calls.byIndex.set(index, open);
    } else if (open !== undefined) {
      // Sent once: some clients concatenate repeated fields.
      for (const field of ['id', 'type']) delete call[field];
      if (open.name === name || !isText(name)) delete called['name'];
    }
    if (called['arguments'] === undefined) return;
    called['arguments'] = writeArguments(called['arguments']);
    if (open !== undefined) open.hasArguments ||= called['arguments'] !== '';
  }

  /** Completes what identifies a call. An id that is missing, or is already that of another call, is replaced. */
  #completeHead(call: JsonObject, choice: unknown, index: number): void {
    this.#ids ??= new Set();
    if (!hasId(call) || this.#ids.has(call['id'])) call['id'] = this.#makeId(choice, index);
    this.#ids.add(call['id']);
    if (!isText(call['type'])) call['type'] = isCustom(call) ? 'custom' : 'function';
  }

  /** Includes the choice in the id: clients that keep several choices also tell calls apart by id. */
  #makeId(choice: unknown, index: number): string {
    return `call_${this.#requestId}_${choice === 0 ? '' : `${String(choice)}_`}${index}`;
  }
}

/** The calls of one choice in a stream, by the index the caller sees. */
class OpenCalls {
  readonly byIndex = new Map<number, OpenCall>();
  /**
   * The call that each of the host's indexes currently stands for. Some hosts count text and reasoning along, so that
   * calls start at 1, and some give every call the same index.
   */
  readonly #places = new Map<number, number>();

  /** Lists the calls that have received no arguments. */
  listWithoutArguments(): OpenCall[] {
    return [...this.byIndex.values()].filter(lacksArguments);
  }

  /** Returns the place of the call that a piece belongs to. `position` is the piece's own in its list. */
  placeOf(call: JsonObject, name: unknown, position: number): number {
    const { index } = call;
    if (typeof index !== 'number') return this.#placeWithoutIndex(call, name, position);
    const place = this.#places.get(index);
    if (place === undefined) return hasId(call) || isText(name) ? this.#nextPlace(index) : index;
    // Some hosts give every piece its own id, but only the start of a call also has a name.
    if (!hasId(call) || !isText(name) || this.byIndex.get(place)?.id === call['id']) return place;
    const known = this.#placeById(call['id']);
    if (known === undefined) return this.#nextPlace(index);
    this.#places.set(index, known);
    return known;
  }

  /** A new id starts the next call, and so does a name, unless it is the last one again. Everything else belongs to the last call. */
  #placeWithoutIndex(call: JsonObject, name: unknown, position: number): number {
    const known = this.#placeById(call['id']);
    const open = known === undefined && hasId(call) ? undefined : this.byIndex.get(known ?? this.byIndex.size - 1);
    if (open === undefined) return this.#nextPlace(this.byIndex.size);
    if (!isText(name) || !isText(open.name)) return open.index;
    const isSame = name === open.name && position === 0 && (known !== undefined || continues(call, open));
    return isSame ? open.index : this.#nextPlace(this.byIndex.size);
  }

  /** Returns the place of a call that starts, and remembers which of the host's indexes stands for it. */
  #nextPlace(index: number): number {
    const place = this.byIndex.size;
    this.#places.set(index, place);
    return place;
  }

  /** Some hosts give several calls the same id: the latest counts. */
  #placeById(id: unknown): number | undefined {
    return isText(id) ? [...this.byIndex.values()].findLast((open) => open.id === id)?.index : undefined;
  }
}

const PIECE_FIELDS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);

/** True for a piece of a function call with no id, no name, no arguments and no field of the host's own. */
function isEmptyPiece(piece: JsonObject): boolean {
  const { id, function: called } = piece;
  if (!isObject(called) || !Object.keys(piece).every((name) => PIECE_FIELDS.has(name))) return false;
  return [id, ...Object.values(called)].every((value) => (value ?? '') === '');
}

/** Whether a piece without id goes on with a call although it names it again. Some hosts announce a call first, or name it in every piece. */
function continues({ function: called }: JsonObject, { hasArguments }: OpenCall): boolean {
  const json = writeArguments(objectOf(called)['arguments']);
  return json !== '' && !(hasArguments && json.trimStart().startsWith('{'));
}

function lacksArguments({ hasArguments }: OpenCall): boolean {
  return !hasArguments;
}

/** Returns the piece that completes a call without arguments. */
function giveEmptyArguments(call: OpenCall): JsonObject {
  call.hasArguments = true;
  return { index: call.index, function: { arguments: '{}' } };
}

function isCustom({ type, custom }: JsonObject): boolean {
  return type === 'custom' || isObject(custom);
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
