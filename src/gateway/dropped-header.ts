/** Clients and proxies refuse responses whose headers are much longer. */
const CHARACTERS_MAX = 2000;
const NAME_CHARACTERS_MAX = 100;
/** Characters that a header cannot hold, and commas, which would look like another name. */
const UNFIT = /[^\x21-\x2b\x2d-\x7e]/gu;

/** Formats the dropped fields as a header value. An unknown field has whatever name the client chose, so names are cleaned and cut. */
export function writeDropped(names: readonly string[]): string {
  let header = '';
  for (const name of names) {
    const longer = `${header}${header === '' ? '' : ', '}${name.slice(0, NAME_CHARACTERS_MAX).replaceAll(UNFIT, '?')}`;
    if (longer.length > CHARACTERS_MAX) return `${header}, ...`;
    header = longer;
  }
  return header;
}
