import { DAY_MS, MINUTE_MS } from './durations.ts';

/** Offsets of a time zone from UTC. Asking the runtime is slow, so the offset of a day is cached if the clocks did not change on it. */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  readonly #days = new Map<number, number | 'changes'>();

  constructor(zone: string) {
    this.#format = formatFor(zone);
  }

  offsetMs(atMs: number): number {
    const day = Math.floor(atMs / DAY_MS);
    let known = this.#days.get(day);
    if (known === undefined) {
      const [first, last] = [this.#ask(day * DAY_MS), this.#ask((day + 1) * DAY_MS)];
      known = first === last ? first : 'changes';
      this.#days.set(day, known);
    }
    return known === 'changes' ? this.#ask(atMs) : known;
  }

  /** Returns the first moment at which the clocks show this time or a later one. If they skip it, that is the moment of the change. */
  momentOf(wallMs: number): number {
    const [before, after] = [wallMs - this.offsetMs(wallMs - DAY_MS), wallMs - this.offsetMs(wallMs + DAY_MS)];
    const [first, second] = before < after ? [before, after] : [after, before];
    return first + this.offsetMs(first) >= wallMs ? first : second;
  }

  #ask(atMs: number): number {
    const parts = new Map(this.#format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const read = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const wallMs = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'));
    return wallMs - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** About as many as there are zones. A name can be spelt in thousands of ways, and each format takes 24 kB. */
const FORMATS_MAX = 500;

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    const two = '2-digit';
    const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', hourCycle: 'h23', ...parts });
    if (formats.size >= FORMATS_MAX) formats.clear();
    formats.set(zone, format);
  }
  return format;
}

/** An offset from UTC that is not a multiple of a quarter-hour. No place has such clocks, and roll-ups are kept by quarter-hours. */
const ODD_OFFSET = /^[+-]\d\d:(?!00|15|30|45)/u;

/** Returns true for a zone that the runtime knows, such as `Asia/Kathmandu`. */
export function isZone(name: string): boolean {
  try {
    const { timeZone } = Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone !== '' && !ODD_OFFSET.test(timeZone);
  } catch {
    // The runtime throws for unknown names.
    return false;
  }
}

/**
 * Returns the name to store for a zone: of its names, the one that every runtime and database has, such as `America/Los_Angeles` for
 * `US/Pacific`. Systems may come without the others, and PostgreSQL reads some, such as CET, as abbreviations without summer time. Offsets
 * such as +02:00 have no such name, and PostgreSQL reads them with the opposite sign. Returns undefined for those and for unknown names.
 */
export function canonicalZone(name: string): string | undefined {
  if (!isZone(name)) return undefined;
  const start = new Temporal.ZonedDateTime(0n, name);
  // Zones with the same clocks are not equal, only names of the same zone are.
  return Intl.supportedValuesOf('timeZone').find((zone) => start.equals(new Temporal.ZonedDateTime(0n, zone)));
}
