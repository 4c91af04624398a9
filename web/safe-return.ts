/**
 * Returns the URL to open after signing in. It is always on this site, because a link must not be able to redirect elsewhere. The path is
 * parsed as the browser does, which ignores tabs and line breaks: `/`, a tab and `/other.example` lead to another site.
 */
export function safeReturn(path: string | undefined, origin: string): string {
  const url = path?.startsWith('/') === true ? URL.parse(path, origin) : null;
  return url?.origin === origin ? url.href : `${origin}/overview`;
}
