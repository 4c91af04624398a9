/** The environment variable from which examples read the secret. */
export const KEY_VARIABLE = 'TOLLGATE_API_KEY';

interface CurlRequest {
  readonly url: string;
  /** A secret that is still in memory. Without one, the command reads it from the environment. */
  readonly secret?: string | undefined;
  /** JSON. Without it, the request is a GET. */
  readonly json?: string;
  readonly isStreamed?: boolean;
}

/** Returns a request as a command that bash and zsh run as it is. */
export function curlCommand({ url, secret = `$${KEY_VARIABLE}`, json, isStreamed = false }: CurlRequest): string {
  const lines = [`curl ${isStreamed ? '-N ' : ''}${quote(url)}`, `-H "Authorization: Bearer ${secret}"`];
  if (json !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${quote(json)}`);
  return lines.join(' \\\n  ');
}

/** Quotes a text, unless it means the same without quotes. The brackets of an IPv6 address would be a pattern for file names. */
function quote(text: string): string {
  if (/^[\w.:/@%+,-]+$/u.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
