import { DAY_MS, QUARTER_HOUR_MS } from '../durations.ts';
import { wholeQuarters, type Span } from './zone.ts';

const PIECES_MAX = 100;
/** When requests are filtered by two dimensions, only whole days of history have sums. Longer spans are cut into days. */
const TWOFOLD_MS_MAX = 8 * DAY_MS;
/** Lengths that are easy to read. */
const LENGTHS_MS = [1, 2, 4, 8, 12, 24, 48, 96, 192, 672].map((quarters) => quarters * QUARTER_HOUR_MS);

/** Cuts a span into pieces of equal length, few enough for a small chart. */
export function cutIntoPieces({ fromMs, toMs }: Span, isTwofold: boolean): Span[] {
  const leastMs = isTwofold && toMs - fromMs > TWOFOLD_MS_MAX ? DAY_MS : QUARTER_HOUR_MS;
  const fits = (length: number): boolean => length >= leastMs && (toMs - fromMs) / length <= PIECES_MAX;
  const lengthMs = LENGTHS_MS.find(fits) ?? LENGTHS_MS.at(-1) ?? QUARTER_HOUR_MS;
  const whole = wholeQuarters({ fromMs, toMs });
  const count = Math.ceil((toMs - whole.fromMs) / lengthMs);
  return Array.from({ length: count }, (_, index) => {
    const startMs = whole.fromMs + index * lengthMs;
    return { fromMs: startMs, toMs: Math.min(startMs + lengthMs, whole.toMs) };
  });
}
