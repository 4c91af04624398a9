import type { Feature, Model, Route } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import { HOSTS } from '../providers/hosts.ts';
import { placeOf, probe, probeOutputLimit, type ProbedPlace, type ProbeName } from '../providers/probe.ts';
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts';

/** A mistake in a model's entry, or something unusual that the operator should know. */
export interface Problem {
  readonly model: string;
  /** Index of the route in question; undefined if the problem concerns the whole model. */
  readonly route?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

type Finding = Omit<Problem, 'model'>;

/** Returns every problem of these models that can be found without calling a provider. */
export function findProblems(config: Config, models: readonly Model[]): Problem[] {
  const known = new Map(models.map((model) => [model.id, model]));
  const single = models.flatMap((model) => {
    const findings = [...checkLimits(model), ...checkPrices(model), ...checkCharge(model), ...checkRoutes(model, config)];
    return findings.map((finding) => ({ model: model.id, ...finding }));
  });
  return [...single, ...findDuplicates([...known.values()])];
}

const CONTEXT_LENGTH_MIN = 1024;

function checkLimits({ contextLength, maxOutputTokens }: Model): Finding[] {
  return [
    ...when(maxOutputTokens > contextLength, error(`max_output_tokens ${maxOutputTokens} exceeds the context of ${contextLength}`)),
    ...when(contextLength < CONTEXT_LENGTH_MIN, warning(`has a context of only ${contextLength} tokens`)),
  ];
}

function checkPrices({ price, contextLength, features }: Model): Finding[] {
  const { long } = price;
  return [
    ...when(price.output < price.input, warning('output tokens cost less than input tokens')),
    ...when(price.cachedInput > price.input, warning('cached input tokens cost more than other input tokens')),
    ...when(
      long !== undefined && long.overTokens >= contextLength,
      warning('the long price applies only to prompts longer than the context'),
    ),
    ...when(features.includes('web_search'), warning('web searches are not charged separately: the prices must cover them')),
    ...when(
      long !== undefined && (long.input < price.input || long.output < price.output),
      warning('long prompts cost less than short ones'),
    ),
  ];
}

/** Warns of a free model whose provider charges. */
function checkCharge({ price, routes }: Model): Finding[] {
  const isFree = price.input === 0n && price.output === 0n;
  const charging = routes.filter(
    ({ provider }) => provider !== SANDBOX_PROVIDER && HOSTS[provider] !== undefined && HOSTS[provider].addressVariable === undefined,
  );
  return when(
    isFree && charging.length > 0,
    warning(`is free of charge, but ${charging.map(({ provider }) => provider).join(', ')} is not`),
  );
}

function checkRoutes(model: Model, config: Config): Finding[] {
  const seen = new Set<string>();
  return model.routes.flatMap((route, index) => {
    const name = `${route.provider} ${route.model}`;
    const isRepeated = seen.has(name);
    seen.add(name);
    const place = placeOf(route.provider, config.providers);
    const findings = [
      ...when(isRepeated, error('is listed twice: the second is never used')),
      ...when(hasIdleWeight(model.routes, index), warning('has a weight, but no neighbouring route has one')),
      ...(place === undefined ? [error(`there is no provider ${route.provider}`)] : checkAbilities(model, route, place)),
    ];
    return findings.map((finding) => ({ ...finding, route: index }));
  });
}

function hasIdleWeight(routes: readonly Route[], index: number): boolean {
  const isWeighted = (place: number): boolean => routes[place]?.weight !== undefined;
  return isWeighted(index) && !isWeighted(index - 1) && !isWeighted(index + 1);
}

const FEATURE_PROBES: Readonly<Record<Feature, ProbeName>> = {
  tools: 'tools',
  structured_outputs: 'jsonSchema',
  reasoning: 'reasoning',
  sampling: 'sampling',
  logprobs: 'logprobs',
  web_search: 'webSearch',
};
const INPUT_PROBES: Readonly<Record<string, ProbeName>> = { text: 'text', image: 'images', audio: 'audio', file: 'pdf' };

/** Checks that the route's dialect can request everything the model list promises. */
function checkAbilities(model: Model, route: Route, place: ProbedPlace): Finding[] {
  const promises: [what: string, name: ProbeName][] = [
    ...model.features.map((feature): [string, ProbeName] => [`the feature ${feature}`, FEATURE_PROBES[feature]]),
    ...model.inputModalities.flatMap((kind): [string, ProbeName][] =>
      INPUT_PROBES[kind] === undefined ? [] : [[`${kind} input`, INPUT_PROBES[kind]]],
    ),
  ];
  const broken = promises.flatMap(([what, name]) => {
    const verdict = probe(name, place, route.model);
    if (verdict === 'taken') return [];
    return verdict === 'refused'
      ? [error(`${what} is promised, but refused here`)]
      : [warning(`${what} is promised, but dropped here or only described in the prompt`)];
  });
  const limit = probeOutputLimit(place, route.model, model.maxOutputTokens);
  const isCut = limit !== undefined && limit < model.maxOutputTokens;
  return [...broken, ...when(isCut, warning(`max_output_tokens is ${model.maxOutputTokens}, but at most ${limit} are requested here`))];
}

/**
 * Finds models with the same name, and one upstream model sold at two prices: callers would take the cheaper one. The same price under two
 * ids is fine.
 */
function findDuplicates(models: readonly Model[]): Problem[] {
  const byRoute = new Map<string, Model>();
  const byName = new Map<string, Model>();
  return models.flatMap((model) => {
    const problems: Problem[] = [];
    const namesake = byName.get(model.name);
    if (namesake !== undefined) problems.push({ model: model.id, ...warning(`has the same name as ${namesake.id}`) });
    byName.set(model.name, model);
    for (const [index, { provider, model: name }] of model.routes.entries()) {
      const twin = byRoute.get(`${provider} ${name}`);
      if (twin !== undefined && twin !== model && !hasSamePrice(twin, model))
        problems.push({ model: model.id, route: index, ...warning(`${twin.id} leads to the same model at another price`) });
      byRoute.set(`${provider} ${name}`, model);
    }
    return problems;
  });
}

function hasSamePrice({ price: first }: Model, { price: second }: Model): boolean {
  return first.input === second.input && first.output === second.output && first.cachedInput === second.cachedInput;
}

function when(condition: boolean, finding: Finding): Finding[] {
  return condition ? [finding] : [];
}

function error(message: string): Finding {
  return { severity: 'error', message };
}

function warning(message: string): Finding {
  return { severity: 'warning', message };
}
