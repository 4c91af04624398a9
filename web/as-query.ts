/**
 * Casts query strings to the type that the typed client expects. The server's types describe the values after parsing, but they are sent
 * as strings. The server validates each of them.
 */
export function asQuery<Query>(texts: Readonly<Record<string, string>>): Query {
  return texts as Query;
}
