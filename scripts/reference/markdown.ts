/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/**
 * Replaces the text between two markers of a hand-written page.
 * @throws Error if the page has no such markers
 */
export function fillPart(page: string, name: string, text: string): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const end = `\n<!-- end: ${name} -->`;
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no markers for ${name}`);
  return before + begin + text + end + after;
}
