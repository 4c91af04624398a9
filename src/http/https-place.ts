export const HTTPS_PORT = 443;

/** The host of an https address; without the brackets in which addresses of IPv6 stand there. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The port of an https address. */
export function portOf({ port }: URL): number {
  return port === '' ? HTTPS_PORT : Number(port);
}
