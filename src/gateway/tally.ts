import { addWireUsage } from '../openai/usage.ts';
import type { WireUsage } from '../openai/types.ts';
import type { DecodedReply } from '../providers/dialect.ts';
import { addTokens, type TokenUsage } from '../tokens.ts';

/** The output and usage of a request so far. */
export interface Tally {
  /** The reported usage, as we read it and as the provider sent it; undefined unless every exchange reported it. */
  readonly usage: TokenUsage | undefined;
  readonly wireUsage: WireUsage | undefined;
  /** True when output followed the last report of an exchange, which may miss it. */
  readonly isUsageOutdated: boolean;
  /** The model's output, for our own token count where the provider reports none. */
  readonly outputText: string;
  /** The full length of the output. Of a very long answer, `outputText` holds only the beginning. */
  readonly outputLength: number;
  /** How many times the input was read: once per exchange. */
  readonly prompts: number;
}

/** Returns the tally of one complete exchange. */
export function tallyOf({ body, usage, outputText }: DecodedReply, prompts: number): Tally {
  const wireUsage = body['usage'] as WireUsage | undefined;
  return { usage, wireUsage, isUsageOutdated: false, outputText, outputLength: outputText.length, prompts };
}

/** Adds up several exchanges. If one of them reported no usage, the sum would be too small, so it is undefined. */
export function addTallies([first, ...others]: readonly Tally[]): Tally {
  return others.reduce(add, first ?? NOTHING);
}

const NOTHING = tallyOf({ body: {}, usage: undefined, outputText: '' }, 0);

function add(one: Tally, other: Tally): Tally {
  return {
    usage: one.usage === undefined || other.usage === undefined ? undefined : addTokens(one.usage, other.usage),
    wireUsage: one.wireUsage === undefined || other.wireUsage === undefined ? undefined : addWireUsage(one.wireUsage, other.wireUsage),
    isUsageOutdated: one.isUsageOutdated || other.isUsageOutdated,
    outputText: one.outputText + other.outputText,
    outputLength: one.outputLength + other.outputLength,
    prompts: one.prompts + other.prompts,
  };
}

/** Merges the carried data of several exchanges. */
export function joinCarried(all: readonly (ReadonlyMap<string, string> | undefined)[]): ReadonlyMap<string, string> {
  return new Map(all.flatMap((carried) => [...(carried ?? [])]));
}
