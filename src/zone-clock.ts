import { DAY_MS, MINUTE_MS } from './durations.ts';

/** How far a zone's clocks are from UTC. Asking the runtime is slow, so what it says of a day is remembered where clocks did not change in it. */
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

  /** The first moment at which the clocks show this time or a later one: where they skip it, that is when they are changed. */
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
/** As many as there are places, about. A name can be spelt in thousands of ways, and each takes 24 kB. */
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

/** A distance from UTC instead of a name, which is not one of whole quarter-hours: no place has such clocks, and sums are kept by quarter-hours. */
const ODD_OFFSET = /^[+-]\d\d:(?!00|15|30|45)/u;

/** True for the name of a zone that this runtime knows, such as `Asia/Kathmandu`. */
export function isZone(name: string): boolean {
  try {
    const { timeZone } = Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone !== '' && !ODD_OFFSET.test(timeZone);
  } catch {
    // Unknown names are told by an exception.
    return false;
  }
}
