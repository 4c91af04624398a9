/** Ends a rule that means every model of a provider, also those that come later. */
const EVERY = '/*';

/** Whether a list of models names this one: by its id, or by `provider/*`. */
export function lists(rules: readonly string[], modelId: string): boolean {
  return rules.includes(modelId) || rules.includes(everyOf(modelId));
}

/** The rule for all models of the provider that an id begins with. */
export function everyOf(modelId: string): string {
  const slash = modelId.indexOf('/');
  return slash === -1 ? modelId : modelId.slice(0, slash) + EVERY;
}

/** The rules of a list that are about no model that there is. */
export function findUnknown(rules: readonly string[], modelIds: readonly string[]): string[] {
  const known = new Set(modelIds.flatMap((id) => [id, everyOf(id)]));
  return rules.filter((rule) => !known.has(rule));
}

/** What two lists both allow. */
export function inBoth(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first.filter((rule) => lists(second, rule)), ...second.filter((rule) => lists(first, rule))])];
}
