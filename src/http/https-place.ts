/** The default port of https. */
export const HTTPS_PORT = 443;

/** Returns the host of an https URL, without the brackets around IPv6 addresses. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the port of an https URL. */
export function portOf({ port }: URL): number {
  return port === '' ? HTTPS_PORT : Number(port);
}
