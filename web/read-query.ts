/**
 * A query as the typed client wants it. The server reads queries from texts and its types say what becomes of them, so
 * the texts have to be taken for that; the server checks each.
 */
export function readQuery<Query>(texts: Readonly<Record<string, string>>): Query {
  return texts as Query;
}
