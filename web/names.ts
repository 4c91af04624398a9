import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call, type Answer } from './api.ts';

/** The keys, models and providers that an account has used, and the tags of its keys: what reports and lists can be filtered by. */
export type Names = Answer<typeof api.usage.names.$get>;

const FRESH_MS = 60_000;

export const namesQuery = queryOptions({
  queryKey: ['usage', 'names'],
  queryFn: () => call(api.usage.names.$get()),
  staleTime: FRESH_MS,
});

const NOTHING: Names = { keys: [], models: [], providers: [], tags: [] };

/** As far as they have come. */
export function useNames(): Names {
  return useQuery(namesQuery).data ?? NOTHING;
}

/** What a key is called; alike names are told apart by the end of the key. */
export function keyLabel(id: string, { keys }: Names): string {
  const key = keys.find((each) => each.id === id);
  if (key === undefined) return id;
  const isAlike = keys.filter(({ name }) => name === key.name).length > 1;
  return isAlike && key.hint !== '' ? `${key.name} (${key.hint})` : key.name;
}
