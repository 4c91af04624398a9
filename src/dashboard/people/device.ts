/** The first match counts: most browsers also name the browsers that they are based on. */
const BROWSERS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdg/u],
  ['Opera', /\bOPR\//u],
  ['Samsung Internet', /\bSamsungBrowser\//u],
  ['Firefox', /\b(?:Firefox|FxiOS)\//u],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium)\//u],
  ['Safari', /\bSafari\//u],
];
const SYSTEMS: readonly (readonly [name: string, mark: RegExp])[] = [
  ['iPhone', /\biPhone\b/u],
  ['iPad', /\biPad\b/u],
  ['Android', /\bAndroid\b/u],
  ['Windows', /\bWindows\b/u],
  ['ChromeOS', /\bCrOS\b/u],
  ['macOS', /\bMac OS X\b/u],
  ['Linux', /\bLinux\b/u],
];

/** Returns a readable name for a user agent, such as `Firefox on Linux`. */
export function deviceOf(userAgent: string | null): string {
  const name = (list: typeof BROWSERS): string | undefined => list.find(([, mark]) => mark.test(userAgent ?? ''))?.[0];
  const [browser, system] = [name(BROWSERS), name(SYSTEMS)];
  if (browser === undefined) return system ?? 'Unknown device';
  return system === undefined ? browser : `${browser} on ${system}`;
}
