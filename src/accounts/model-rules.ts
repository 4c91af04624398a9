/** Suffix of a rule that matches every model of a provider, including future ones. */
const EVERY = '/*';

/** Returns true if a list of rules matches this model: by its id, or by `provider/*`. */
export function matchesAny(rules: readonly string[], modelId: string): boolean {
  return rules.includes(modelId) || rules.includes(wildcardOf(modelId));
}

/** Returns the rule that matches all models with the same provider prefix as this id. */
export function wildcardOf(modelId: string): string {
  const slash = modelId.indexOf('/');
  return slash === -1 ? modelId : modelId.slice(0, slash) + EVERY;
}

/** Returns the rules that match no known model. */
export function findUnknown(rules: readonly string[], modelIds: readonly string[]): string[] {
  const known = new Set(modelIds.flatMap((id) => [id, wildcardOf(id)]));
  return rules.filter((rule) => !known.has(rule));
}

/** Returns the rules that both lists allow. */
export function intersectRules(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first.filter((rule) => matchesAny(second, rule)), ...second.filter((rule) => matchesAny(first, rule))])];
}
