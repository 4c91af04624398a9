import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { ProviderFault, type Target } from './dialect.ts';

/**
 * Handling of options that providers charge for in addition to tokens, or at other prices than the catalogue's. Nothing
 * is served without a price. A requested search is refused, because an answer without it would be a different one. A
 * more expensive tier is dropped.
 */

/** Refuses a search request for a model whose prices do not include searches. */
export function refuseUnpricedSearch(chat: ChatRequest, { maySearch }: Target): void {
  if (chat['web_search_options'] === undefined || maySearch === true) return;
  throw new ProviderFault(
    "Web searches are charged separately, and this model has no price for them. Leave out 'web_search_options', or choose a model that lists it under 'supported_parameters' in GET /v1/models.",
    { status: 400, code: 'unsupported_parameter', param: 'web_search_options' },
  );
}

/** Tools that the caller runs. All others are run, and charged for, by the provider. */
const OWN_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Refuses tools that the provider runs itself, such as a browser. Self-hosted servers get them. */
function refuseUnpricedTools({ tools }: ChatRequest, { host, maySearch }: Target): void {
  if (!Array.isArray(tools) || host?.addressVariable !== undefined || maySearch === true) return;
  const index = tools.findIndex((tool) => isObject(tool) && !OWN_TOOLS.has(tool['type']));
  if (index === -1) return;
  throw new ProviderFault(
    "Tools that the provider runs are charged separately, and this model has no price for them. Use tools of type 'function' or 'custom'.",
    { status: 400, code: 'unsupported_parameter', param: `tools[${index}]` },
  );
}

/** True for tiers that cost more than the standard one, whose prices are in the catalogue. */
function isExpensiveTier(tier: unknown): boolean {
  return tier === 'priority' || tier === 'fast';
}

/** Removes options that cost extra from a relayed body, which is ours to modify. Returns the names of the lost fields. */
export function stripUnpriced(body: JsonObject, chat: ChatRequest, target: Target): readonly string[] {
  const dropped: string[] = [];
  refuseUnpricedTools(chat, target);
  if (isExpensiveTier(chat['service_tier'])) dropped.push('service_tier');
  // A model that always searches does not need the option. Dropping it only removes the requested extent, which has no price.
  if (target.host?.alwaysSearches === true && target.maySearch !== true && chat['web_search_options'] !== undefined)
    dropped.push('web_search_options');
  else refuseUnpricedSearch(chat, target);
  for (const name of dropped) delete body[name];
  return dropped;
}
