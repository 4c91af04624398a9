/** Writes a count with its noun: `1 payment`, `2 payments`. The count may be formatted already. */
export function plural(count: number | string, noun: string): string {
  return `${count} ${noun}${String(count) === '1' ? '' : 's'}`;
}
