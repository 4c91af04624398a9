import { isKnownDay } from './time.ts';

/** Readers for what stands behind the question mark of an address. What does not fit is left out: an address may come from anywhere. */
export type RawSearch = Readonly<Record<string, unknown>>;

const TEXT_CHARS_MAX = 500;

/** A text, or undefined when there is none. The router reads `?q=12` as a number, so numbers count as texts. */
export function readText(raw: RawSearch, name: string): string | undefined {
  const value = raw[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, TEXT_CHARS_MAX) : undefined;
}

/** One of some words, or undefined. */
export function readChoice<Value extends string>(raw: RawSearch, name: string, values: readonly Value[]): Value | undefined {
  const text = readText(raw, name);
  return values.find((value) => value === text);
}

/** A day as `YYYY-MM-DD`, or undefined. */
export function readDay(raw: RawSearch, name: string): string | undefined {
  const text = readText(raw, name);
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/u.test(text) && !Number.isNaN(Date.parse(text)) && isKnownDay(text) ? text : undefined;
}

/** Makes a reader the only one: the router gives a page what its reader left out as it stands in the address, unless that is taken away. */
export function only<Search extends object>(read: (raw: RawSearch) => Search): (raw: RawSearch) => Search {
  return (raw) => ({ ...Object.fromEntries(Object.keys(raw).map((name) => [name, undefined])), ...read(raw) });
}

/** A change of what stands in an address; undefined takes something out. */
export type ChangeOf<Search> = { readonly [Name in keyof Search]?: Search[Name] | undefined };

/** What somebody wrote, for an address; undefined where that is nothing. */
export function given(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

/** Drops what is undefined, so that addresses stay short and types stay exact. */
export function compact<Search extends object>(search: Search): { [Name in keyof Search]: Exclude<Search[Name], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]: Exclude<Search[Name], undefined>;
  };
}
