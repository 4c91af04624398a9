/** Durations in milliseconds. A day is a UTC day; days in a time zone may have an hour more or less. */
export const MINUTE_MS = 60_000;
/** Roll-ups count per quarter hour, because in every time zone days begin on one. */
export const QUARTER_HOUR_MS = 15 * MINUTE_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
