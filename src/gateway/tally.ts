import { addWireUsage } from '../openai/usage.ts';
import type { WireUsage } from '../openai/types.ts';
import type { DecodedReply } from '../providers/provider.ts';
import { addTokens, type TokenUsage } from '../tokens.ts';

/** What came of a request so far. */
export interface Tally {
  /** What was reported, as we read it and as it was spelled; undefined where nothing was, or not everything. */
  readonly usage: TokenUsage | undefined;
  readonly wireUsage: WireUsage | undefined;
  readonly outputText: string;
  /** How long that is: of a very long answer only the beginning is kept. */
  readonly outputLength: number;
  /** How often the input was read: once for every exchange. */
  readonly prompts: number;
}

/** What came of an exchange whose answer is whole. */
export function tallyOf({ body, usage, outputText }: DecodedReply, prompts: number): Tally {
  return { usage, wireUsage: body['usage'] as WireUsage | undefined, outputText, outputLength: outputText.length, prompts };
}

/** Several exchanges as one. Where one of them reported nothing, the sum would be too small, so there is none. */
export function addTallies([first, ...others]: readonly Tally[]): Tally {
  return others.reduce(add, first ?? NOTHING);
}

const NOTHING: Tally = { usage: undefined, wireUsage: undefined, outputText: '', outputLength: 0, prompts: 0 };

function add(one: Tally, other: Tally): Tally {
  return {
    usage: one.usage === undefined || other.usage === undefined ? undefined : addTokens(one.usage, other.usage),
    wireUsage: one.wireUsage === undefined || other.wireUsage === undefined ? undefined : addWireUsage(one.wireUsage, other.wireUsage),
    outputText: one.outputText + other.outputText,
    outputLength: one.outputLength + other.outputLength,
    prompts: one.prompts + other.prompts,
  };
}

/** Everything that must be kept of several exchanges. */
export function joinCarried(all: readonly (ReadonlyMap<string, string> | undefined)[]): ReadonlyMap<string, string> {
  return new Map(all.flatMap((carried) => [...(carried ?? [])]));
}
