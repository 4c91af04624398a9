import { isObject, objectsOf, textOf, type JsonObject } from '../../openai/types.ts';

/** A call whose arguments have started to arrive. */
interface PartialCall {
  readonly name: unknown;
  readonly id: unknown;
  readonly signature: unknown;
  readonly args: JsonObject;
}

const STEPS_MAX = 64;
const ITEMS_MAX = 10_000;

/**
 * Assembles calls whose arguments arrive in pieces, each with its path, as Vertex can send them. One instance per
 * choice of a stream. Other parts pass through unchanged.
 */
export class PartialCalls {
  #open: PartialCall | undefined;

  /** Returns the parts of one event, with completed calls added and incomplete ones removed. */
  join(parts: readonly JsonObject[], isEnd: boolean): readonly JsonObject[] {
    const isPlain = this.#open === undefined && !parts.some(({ functionCall }) => isPartial(functionCall));
    if (isPlain) return parts;
    const joined = parts.flatMap((part) => (isObject(part['functionCall']) ? this.#take(part['functionCall'], part) : [part]));
    return isEnd ? [...joined, ...this.#close()] : joined;
  }

  /** Handles a piece of a call. A name opens a call. A piece without `willContinue` closes it. */
  #take(call: JsonObject, part: JsonObject): JsonObject[] {
    const isNamed = call['name'] !== undefined;
    const before = isNamed ? this.#close() : [];
    if (isNamed && !isPartial(call)) return [...before, part];
    if (isNamed) this.#open = { name: call['name'], id: call['id'], signature: part['thoughtSignature'], args: {} };
    const pieces = objectsOf(call['partialArgs']);
    for (const piece of pieces) if (this.#open !== undefined) put(this.#open.args, piece);
    return call['willContinue'] === true ? before : [...before, ...this.#close()];
  }

  #close(): JsonObject[] {
    if (this.#open === undefined) return [];
    const { name, id, signature, args } = this.#open;
    this.#open = undefined;
    return [{ functionCall: { name, id, args }, thoughtSignature: signature }];
  }
}

function isPartial(call: unknown): boolean {
  return isObject(call) && (call['name'] === undefined || call['willContinue'] === true || call['partialArgs'] !== undefined);
}

/** Adds a piece to the arguments. Strings grow piece by piece; every other value arrives at once. */
function put(args: JsonObject, piece: JsonObject): void {
  const steps = stepsOf(String(piece['jsonPath']));
  const last = steps.pop();
  if (last === undefined || steps.length > STEPS_MAX) return;
  let place: Record<string | number, unknown> = args;
  for (const [depth, step] of steps.entries()) {
    const next = steps[depth + 1] ?? last;
    // A name that every object inherits must not lead out of the arguments.
    if (!Object.hasOwn(place, step)) place[step] = typeof next === 'number' ? [] : {};
    place = place[step] as Record<string | number, unknown>;
    // An earlier value lies on this path: strings, numbers and exact integers are frozen.
    if (Object.isFrozen(place)) return;
  }
  const { stringValue, numberValue, boolValue } = piece;
  const known = Object.hasOwn(place, last) ? place[last] : undefined;
  place[last] = typeof stringValue === 'string' ? textOf(known) + stringValue : (numberValue ?? boolValue ?? null);
}

/** Splits a path such as `$.recipe.steps[0]['a name']`. Returns no steps for oversized indexes and the prototype. */
function stepsOf(path: string): (string | number)[] {
  const matches = path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/gu);
  const steps = [...matches].map(([, name, item, quoted]) => (item === undefined ? (name ?? quoted ?? '') : Number(item)));
  return steps.some((step) => step === '__proto__' || (typeof step === 'number' && step > ITEMS_MAX)) ? [] : steps;
}
