/**
 * Where to go after signing in. Only pages of this site: an address in a link must not lead elsewhere. It is judged as the browser reads
 * it, which passes over tabs and line ends: `/`, a tab and `/other.example` leads to another site.
 */
export function safeReturn(path: string | undefined, origin: string): string {
  const url = path?.startsWith('/') === true ? URL.parse(path, origin) : null;
  return url?.origin === origin ? url.href : `${origin}/overview`;
}
