/** Renders a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** Renders inline code. */
export function code(text: string): string {
  return `\`${text}\``;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
