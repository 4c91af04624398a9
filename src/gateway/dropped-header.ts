/** Clients and proxies refuse answers whose headers are much longer. */
const CHARACTERS_MAX = 2000;
const NAME_CHARACTERS_MAX = 100;
/** What a header cannot hold, and what would look like another name. */
const UNFIT = /[^\x21-\x2b\x2d-\x7e]/gu;

/** The fields that were left out, as a header. A field that nobody knows has whatever name its caller chose. */
export function writeDropped(names: readonly string[]): string {
  let header = '';
  for (const name of names) {
    const longer = `${header}${header === '' ? '' : ', '}${name.slice(0, NAME_CHARACTERS_MAX).replaceAll(UNFIT, '?')}`;
    if (longer.length > CHARACTERS_MAX) return `${header}, ...`;
    header = longer;
  }
  return header;
}
