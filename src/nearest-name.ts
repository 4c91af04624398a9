/** A name may differ from what somebody wrote by one character in so many. */
const CHARACTERS_PER_MISTAKE = 4;

/** Suggests the known name that somebody most likely meant, as a question to append; returns an empty text if none is near. */
export function suggestName(written: string, known: readonly string[]): string {
  const wanted = written.toLowerCase();
  const distances = known.map((name) => (name.endsWith(`/${wanted}`) ? 0 : distanceOf(wanted, name)));
  const least = Math.min(...distances);
  return least * CHARACTERS_PER_MISTAKE > wanted.length ? '' : ` Did you mean ${known[distances.indexOf(least)]}?`;
}

/** Counts the characters to insert, delete or replace until one text is the other (the Levenshtein distance). */
function distanceOf(first: string, second: string): number {
  let row = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let line = 0; line < first.length; line += 1) {
    const next = [line + 1];
    for (let column = 0; column < second.length; column += 1) {
      const replaced = (row[column] ?? 0) + (first[line] === second[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[second.length] ?? 0;
}
