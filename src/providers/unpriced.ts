import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { ProviderFault, type Target } from './provider.ts';

/**
 * What providers charge for beside tokens, or at another price than the catalogue's. Nothing is served without a price: a search
 * that was asked for is refused, since an answer without it would be another one; a dearer tier is left out.
 */

/** Refuses a request for searches of a model that is not sold with them. */
export function refuseUnpricedSearch(chat: ChatRequest, { maySearch }: Target): void {
  if (chat['web_search_options'] === undefined || maySearch === true) return;
  throw new ProviderFault(
    "Searches have a price of their own, which this model is not sold with. Leave out 'web_search_options', or choose a model whose 'supported_parameters' in GET /v1/models name it.",
    { status: 400, code: 'unsupported_parameter', param: 'web_search_options' },
  );
}

/** Tools that the caller runs. All others are run by the provider, which charges for that. */
const OWN_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom']);

/** Refuses tools that the provider runs itself, such as a browser. Servers of your own get them. */
function refuseUnpricedTools({ tools }: ChatRequest, { host, maySearch }: Target): void {
  if (!Array.isArray(tools) || host?.addressVariable !== undefined || maySearch === true) return;
  const index = tools.findIndex((tool) => isObject(tool) && !OWN_TOOLS.has(tool['type']));
  if (index === -1) return;
  throw new ProviderFault(
    "Tools that the provider runs itself have a price of their own, which this model is not sold with. Use tools of the type 'function' or 'custom'.",
    { status: 400, code: 'unsupported_parameter', param: `tools[${index}]` },
  );
}

/** Whether a tier costs more than the usual one, whose prices are in the catalogue. */
function isDearTier(tier: unknown): boolean {
  return tier === 'priority' || tier === 'fast';
}

/** Takes what costs extra out of a relayed body, which is ours. Gives the names of the fields that were lost. */
export function stripUnpriced(body: JsonObject, chat: ChatRequest, target: Target): readonly string[] {
  const dropped: string[] = [];
  refuseUnpricedTools(chat, target);
  if (isDearTier(chat['service_tier'])) dropped.push('service_tier');
  // A model that always searches needs no leave; only how much it shall search is not ours to pay for.
  if (target.host?.searchesUnasked === true && target.maySearch !== true && chat['web_search_options'] !== undefined)
    dropped.push('web_search_options');
  else refuseUnpricedSearch(chat, target);
  for (const name of dropped) delete body[name];
  return dropped;
}
