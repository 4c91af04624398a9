import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';

/**
 * What a provider does with the marks that callers put into a prompt: nothing, or it keeps what stands before them for five
 * minutes. Longer costs more than the catalogue knows, so that nobody is asked for it.
 */
export type CacheAbility = 'none' | 'brief';

/** The marks that there are: Anthropic's, which many clients send everywhere, and OpenAI's own. */
export const CACHE_MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const;
export type CacheMark = (typeof CACHE_MARKS)[number];

/** The names of the marks that are lost, or of how long they were meant to last. */
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

/** Takes lost marks out of a relayed body, which is ours; what is in it is the caller's and is copied where it changes. */
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

/** Whether a mark lasts no longer than marks do that say nothing. */
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

/** Everything in a request that can be marked, with the place that its loss is told by. */
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
