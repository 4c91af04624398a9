import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';

/**
 * What a provider does with the cache marks in a prompt: ignore them, or cache everything before the mark for five
 * minutes. Longer caching is never requested, because it costs more than the catalogue's prices cover.
 */
export type CacheAbility = 'none' | 'brief';

/** The known marks: Anthropic's, which many clients send to every provider, and OpenAI's. */
export const CACHE_MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const;
export type CacheMark = (typeof CACHE_MARKS)[number];

/** Names the marks that are lost, or their `ttl` if only the duration is. */
export function lostCacheMarks(chat: JsonObject, ability: CacheAbility, marks: readonly CacheMark[] = CACHE_MARKS): string[] {
  const lost = new Set<string>();
  visitHolders(chat, (holder, place) => {
    for (const mark of marks) {
      const value = holder[mark];
      if (!isObject(value)) continue;
      if (ability === 'none') lost.add(`${place}${mark}`);
      else if (!isBrief(value)) lost.add(`${place}${mark}.ttl`);
    }
  });
  return [...lost];
}

/**
 * Removes lost marks from a relayed body and returns their names. The body is ours to modify. Its contents belong to
 * the caller and are copied before they change.
 */
export function stripCacheMarks(body: JsonObject, ability: CacheAbility, marks: readonly CacheMark[]): readonly string[] {
  const lost = lostCacheMarks(body, ability, marks);
  if (lost.length === 0) return lost;
  const strip = (holder: JsonObject): JsonObject => stripHolder(holder, ability, marks);
  const stripAll = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((item: unknown) => (isObject(item) ? strip(item) : item)) : value;
  const whole = strip({ cache_control: body['cache_control'] })['cache_control'];
  if (whole === undefined) delete body['cache_control'];
  else body['cache_control'] = whole;
  body['messages'] = (body as ChatRequest).messages.map((message) => ({ ...strip(message), content: stripAll(message['content']) }));
  if (Array.isArray(body['tools']))
    body['tools'] = body['tools']
      .filter(isObject)
      .map((tool) => ({ ...strip(tool), ...(isObject(tool['function']) ? { function: strip(tool['function']) } : {}) }));
  return lost;
}

/** True when a mark lasts no longer than the default. */
function isBrief({ ttl }: JsonObject): boolean {
  return ttl === undefined || ttl === null || ttl === '5m';
}

function stripHolder(holder: JsonObject, ability: CacheAbility, marks: readonly CacheMark[]): JsonObject {
  const stripped = { ...holder };
  for (const mark of marks) {
    const value = stripped[mark];
    if (!isObject(value)) continue;
    const { ttl: _, ...brief } = value;
    if (ability === 'none') delete stripped[mark];
    else if (!isBrief(value)) stripped[mark] = brief;
  }
  return stripped;
}

/** Visits everything in a request that can carry a mark, with the path under which its loss is reported. */
function visitHolders(chat: JsonObject, visit: (holder: JsonObject, place: string) => void): void {
  visit({ cache_control: chat['cache_control'] }, '');
  for (const message of (chat as ChatRequest).messages) {
    visit(message, 'messages[].');
    if (!Array.isArray(message['content'])) continue;
    for (const part of message['content']) if (isObject(part)) visit(part, 'messages[].content[].');
  }
  if (!Array.isArray(chat['tools'])) return;
  for (const tool of chat['tools'].filter(isObject)) {
    visit(tool, 'tools[].');
    if (isObject(tool['function'])) visit(tool['function'], 'tools[].function.');
  }
}
