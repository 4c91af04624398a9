import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import type { Capabilities } from './capabilities.ts';
import type { EncodedThinking } from './encode-thinking.ts';

interface SamplingLimits {
  readonly capabilities: Capabilities;
  readonly thinking: EncodedThinking;
  readonly outputTokensMax: number | undefined;
}

/** Encodes the output limit and how the answer is sampled, as far as the model supports it. */
export function encodeSampling(
  chat: ChatRequest,
  { capabilities, thinking, outputTokensMax }: SamplingLimits,
): { config: JsonObject; dropped: string[] } {
  const config: JsonObject = {};
  const dropped: string[] = [];
  // A thinking budget must be below the output limit, so a limit is always sent with it.
  const limit =
    outputTokensMax ?? (capabilities.reasoning === 'budget' && !thinking.takesSampling ? capabilities.outputTokensMax : undefined);
  if (limit !== undefined) config['maxTokens'] = limit;
  const sampling = thinking.takesSampling ? capabilities.sampling : 'none';
  const { top_p: topP, stop } = chat;
  // 1 is the default. Naming it changes nothing, but would rule out top_p.
  const temperature = sampling === 'either' && chat['temperature'] === 1 ? undefined : chat['temperature'];
  if (typeof temperature === 'number') {
    if (sampling === 'none') dropped.push('temperature');
    else config['temperature'] = Math.min(1, temperature);
  }
  if (typeof topP === 'number') {
    if (sampling === 'none' || (sampling === 'either' && 'temperature' in config)) dropped.push('top_p');
    else config['topP'] = topP;
  }
  const wanted = stop === undefined ? [] : Array.isArray(stop) ? stop : [stop];
  const stops = capabilities.hasStop ? wanted.filter((text) => typeof text === 'string' && text.trim() !== '') : [];
  if (stops.length > 0) config['stopSequences'] = stops;
  if (stops.length < wanted.length) dropped.push('stop');
  return { config, dropped };
}
