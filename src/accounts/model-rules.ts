/** Suffix of a rule that matches every model of a provider, including future ones. */
const EVERY = '/*';

/** Returns true if a list of rules matches this model: by its id, or by `provider/*`. */
export function lists(rules: readonly string[], modelId: string): boolean {
  return rules.includes(modelId) || rules.includes(everyOf(modelId));
}

/** Returns the rule that matches all models with the same provider prefix as this id. */
export function everyOf(modelId: string): string {
  const slash = modelId.indexOf('/');
  return slash === -1 ? modelId : modelId.slice(0, slash) + EVERY;
}

/** Returns the rules that match no known model. */
export function findUnknown(rules: readonly string[], modelIds: readonly string[]): string[] {
  const known = new Set(modelIds.flatMap((id) => [id, everyOf(id)]));
  return rules.filter((rule) => !known.has(rule));
}

/** Returns the rules that both lists allow. */
export function inBoth(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first.filter((rule) => lists(second, rule)), ...second.filter((rule) => lists(first, rule))])];
}
