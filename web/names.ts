import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call, type ResponseBody } from './api.ts';

/** The keys, models and providers that an account has used, and the tags of its keys. Reports and lists can be filtered by them. */
export type Names = ResponseBody<typeof api.usage.names.$get>;

const FRESH_MS = 60_000;

export const namesQuery = queryOptions({
  queryKey: ['usage', 'names'],
  queryFn: () => call(api.usage.names.$get()),
  staleTime: FRESH_MS,
});

const NOTHING: Names = { keys: [], models: [], providers: [], tags: [] };

/** Returns the names of the account; empty lists until they are loaded. */
export function useNames(): Names {
  return useQuery(namesQuery).data ?? NOTHING;
}

/** Returns the name of a key. If another key has the same name, the last characters of the key are added. */
export function keyLabel(id: string, { keys }: Names): string {
  const key = keys.find((each) => each.id === id);
  if (key === undefined) return id;
  const isAmbiguous = keys.filter(({ name }) => name === key.name).length > 1;
  return isAmbiguous && key.hint !== '' ? `${key.name} (${key.hint})` : key.name;
}
