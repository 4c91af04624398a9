import { isValidDay } from './time.ts';

/** Raw search parameters of a URL. The readers below leave out invalid values, since a URL may come from anywhere. */
export type RawSearch = Readonly<Record<string, unknown>>;

const TEXT_CHARS_MAX = 500;

/** Reads a text, or undefined if there is none. Numbers count as texts, because the router parses `?q=12` as a number. */
export function readText(raw: RawSearch, name: string): string | undefined {
  const value = raw[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, TEXT_CHARS_MAX) : undefined;
}

/** Reads one of several fixed values, or undefined. */
export function readChoice<Value extends string>(raw: RawSearch, name: string, values: readonly Value[]): Value | undefined {
  const text = readText(raw, name);
  return values.find((value) => value === text);
}

/** Reads a day as `YYYY-MM-DD`, or undefined. */
export function readDay(raw: RawSearch, name: string): string | undefined {
  const text = readText(raw, name);
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/u.test(text) && !Number.isNaN(Date.parse(text)) && isValidDay(text) ? text : undefined;
}

/** Wraps a reader so that parameters it leaves out are dropped. By default the router would pass their raw values on to the page. */
export function dropUnknown<Search extends object>(read: (raw: RawSearch) => Search): (raw: RawSearch) => Search {
  return (raw) => ({ ...Object.fromEntries(Object.keys(raw).map((name) => [name, undefined])), ...read(raw) });
}

/** Changes to search parameters; undefined removes one. */
export type ChangeOf<Search> = { readonly [Name in keyof Search]?: Search[Name] | undefined };

/** Trims a typed text; returns undefined if nothing is left. */
export function nonBlank(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

/** Drops undefined properties, which keeps URLs short and types exact. */
export function compact<Search extends object>(search: Search): { [Name in keyof Search]: Exclude<Search[Name], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]: Exclude<Search[Name], undefined>;
  };
}
