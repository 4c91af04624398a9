import type { Feature, Model, Route } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import { HOSTS } from '../providers/compatible.ts';
import { probe, probeOutputLimit, type ProbedPlace, type ProbeName } from '../providers/probe.ts';
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts';

/** Something about a model that cannot be right, or that the operator should know. */
export interface Problem {
  readonly model: string;
  /** The place of the route that it is about; undefined where it is about the model as a whole. */
  readonly route?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

type Finding = Omit<Problem, 'model'>;

/** Everything that is wrong with these models, as far as it shows without calling a provider. */
export function findProblems(config: Config, models: readonly Model[]): Problem[] {
  const known = new Map(models.map((model) => [model.id, model]));
  const alone = models.flatMap((model) => {
    const findings = [...checkLimits(model), ...checkPrices(model), ...checkCharge(model), ...checkRoutes(model, config)];
    return findings.map((finding) => ({ model: model.id, ...finding }));
  });
  return [...alone, ...findDuplicates([...known.values()])];
}

const CONTEXT_LENGTH_MIN = 1024;

function checkLimits({ contextLength, maxOutputTokens }: Model): Finding[] {
  return [
    ...when(maxOutputTokens > contextLength, error(`writes ${maxOutputTokens} tokens into a context of ${contextLength}`)),
    ...when(contextLength < CONTEXT_LENGTH_MIN, warning(`has a context of only ${contextLength} tokens`)),
  ];
}

function checkPrices({ price, contextLength, features }: Model): Finding[] {
  const { long } = price;
  return [
    ...when(price.output < price.input, warning('costs less for an answer than for a prompt')),
    ...when(price.cachedInput > price.input, warning('costs more for cached tokens than for others')),
    ...when(long !== undefined && long.overTokens >= contextLength, warning('has a price for prompts that are longer than its context')),
    ...when(features.includes('web_search'), warning('may search, which is not charged by itself: its prices must pay for that')),
    ...when(long !== undefined && (long.input < price.input || long.output < price.output), warning('gets cheaper when prompts are long')),
  ];
}

/** What costs nothing here and something there is given away. */
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
    const place = placeOf(route, config);
    const findings = [
      ...when(isRepeated, error('is there twice: the second is never of use')),
      ...when(hasIdleWeight(model.routes, index), warning('has a weight, but no neighbour that has one')),
      ...(place === undefined ? [error(`there is no provider ${route.provider}`)] : checkAbilities(model, route, place)),
    ];
    return findings.map((finding) => ({ ...finding, route: index }));
  });
}

function hasIdleWeight(routes: readonly Route[], index: number): boolean {
  const isWeighted = (place: number): boolean => routes[place]?.weight !== undefined;
  return isWeighted(index) && !isWeighted(index - 1) && !isWeighted(index + 1);
}

/** A provider that is off is looked at as it would be if it were on. */
function placeOf({ provider }: Route, config: Config): ProbedPlace | undefined {
  const configured = config.providers.get(provider);
  if (configured !== undefined) return configured;
  const host = Object.hasOwn(HOSTS, provider) ? HOSTS[provider] : undefined;
  return host === undefined ? undefined : { dialect: host.dialect ?? 'openai', baseUrl: host.baseUrl, host };
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

/** What the model list promises must be something that the route's dialect can ask for. */
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
      : [warning(`${what} is promised, but left out here or only told in words`)];
  });
  const limit = probeOutputLimit(place, route.model, model.maxOutputTokens);
  const isCut = limit !== undefined && limit < model.maxOutputTokens;
  return [
    ...broken,
    ...when(isCut, warning(`max_output_tokens is ${model.maxOutputTokens}, but no more than ${limit} are asked for here`)),
  ];
}

/** The same thing under two ids is fine; at two prices, callers take the cheaper one. */
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

function when(isSo: boolean, finding: Finding): Finding[] {
  return isSo ? [finding] : [];
}

function error(message: string): Finding {
  return { severity: 'error', message };
}

function warning(message: string): Finding {
  return { severity: 'warning', message };
}
