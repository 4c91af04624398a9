import { isObject, type JsonObject } from '../openai/types.ts';
import type { ReasoningField } from './host.ts';
import { lookUp } from './look-up.ts';
import type { Dialect } from './dialect.ts';

const FIELDS: readonly ReasoningField[] = ['reasoning', 'thinking'];

/** What became of such fields. */
export interface MovedEffort {
  /** The fields, or parts of them, that are lost. */
  readonly lost: readonly string[];
  /** Names a lost field as the caller spelled it. */
  readonly nameOf: (field: string) => string;
}

/** Moves such fields of a request, which is ours to modify, into `reasoning_effort`. Those that the host knows stay. */
export function moveEffort(request: JsonObject, known: readonly ReasoningField[] = []): MovedEffort {
  const lost: string[] = [];
  let origin: string | undefined;
  for (const name of FIELDS) {
    const setting = request[name];
    if (!isObject(setting) || known.includes(name)) continue;
    delete request[name];
    const effort = readEffort(setting);
    if (effort !== undefined && request['reasoning_effort'] === undefined) {
      request['reasoning_effort'] = effort;
      origin = name;
      lost.push(...lostParts(setting).map((part) => `${name}.${part}`));
    } else if (effort !== request['reasoning_effort'] || effort === undefined) lost.push(name);
  }
  return { lost, nameOf: (field) => (field === 'reasoning_effort' ? (origin ?? field) : field) };
}

/** Does the same for a translated dialect, which has its own fields. */
export function withReasoningFields(dialect: Dialect): Dialect {
  return {
    ...dialect,
    encodeRequest(chat, target) {
      if (FIELDS.every((name) => chat[name] === undefined)) return dialect.encodeRequest(chat, target);
      const copy = { ...chat };
      const { lost, nameOf } = moveEffort(copy);
      const request = dialect.encodeRequest(copy, target);
      return { ...request, dropped: [...lost, ...(request.dropped ?? []).map(nameOf)] };
    },
  };
}

const EFFORTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort) => [effort, effort]),
);
/** The efforts that come closest to a budget, each up to a number of tokens. */
const BUDGETS: readonly (readonly [tokensMax: number, effort: string])[] = [
  [0, 'none'],
  [2048, 'low'],
  [8192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
];

function readEffort(setting: JsonObject): string | undefined {
  const { effort, enabled, type } = setting;
  const named = lookUp(EFFORTS, effort);
  if (named !== undefined) return named;
  if (enabled === false || type === 'disabled') return 'none';
  const budget = budgetOf(setting);
  if (budget !== undefined) return BUDGETS.find(([tokensMax]) => budget <= tokensMax)?.[1];
  return enabled === true || type === 'enabled' || type === 'adaptive' ? 'medium' : undefined;
}

function budgetOf({ max_tokens: ours, budget_tokens: theirs }: JsonObject): number | undefined {
  const budget = ours ?? theirs;
  return typeof budget === 'number' ? budget : undefined;
}

/** Names what an effort cannot say: an exact budget, and that the reasoning is not to be returned. */
function lostParts(setting: JsonObject): string[] {
  return ['max_tokens', 'budget_tokens', 'exclude'].filter((name) => typeof setting[name] === 'number' || setting[name] === true);
}
