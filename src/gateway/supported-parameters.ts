import type { Feature, Model } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import { placeOf, probe, type ProbeName } from '../providers/probe.ts';

/**
 * Returns the parameters that the model list promises: those of the model's features that its first route really sends.
 * Every dialect and host leaves out others, so the route's own encoder is asked.
 */
export function supportedParameters({ features, routes: [route] }: Model, providers: Config['providers']): string[] {
  const place = route === undefined ? undefined : placeOf(route.provider, providers);
  if (route === undefined || place === undefined) return [];
  const isSent = (name: ProbeName): boolean => probe(name, place, route.model) === 'taken';
  return PARAMETERS.filter(([, feature]) => feature === undefined || features.includes(feature))
    .filter(([, , ...probes]) => probes.every(isSent))
    .map(([name]) => name);
}

/** The name that clients look for, the feature without which no model has the parameter, and the probes that show whether it is sent. */
type Parameter = readonly [name: string, feature: Feature | undefined, ...probes: readonly ProbeName[]];

const PARAMETERS: readonly Parameter[] = [
  ['max_tokens', undefined, 'maxTokens'],
  ['max_completion_tokens', undefined, 'maxCompletionTokens'],
  ['stop', undefined, 'stop'],
  ['seed', undefined, 'seed'],
  ['temperature', 'sampling', 'sampling'],
  ['top_p', 'sampling', 'topP'],
  ['frequency_penalty', 'sampling', 'frequencyPenalty'],
  ['presence_penalty', 'sampling', 'penalties'],
  ['logit_bias', 'logprobs', 'logitBias'],
  ['logprobs', 'logprobs', 'logprobs'],
  ['top_logprobs', 'logprobs', 'topLogprobs'],
  ['tools', 'tools', 'tools'],
  ['tool_choice', 'tools', 'forbiddenTools', 'forcedTool', 'namedTool'],
  ['parallel_tool_calls', 'tools', 'serialTools'],
  ['response_format', undefined, 'jsonMode'],
  // The name for a schema in `response_format` that is enforced.
  ['structured_outputs', 'structured_outputs', 'jsonSchema'],
  ['reasoning_effort', 'reasoning', 'reasoning'],
  ['web_search_options', 'web_search', 'webSearch'],
];
