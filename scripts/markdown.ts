/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** A piece of code in a text. */
export function code(text: string): string {
  return `\`${text}\``;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
