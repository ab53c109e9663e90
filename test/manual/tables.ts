import { readFileSync } from 'node:fs';

/** Returns the rows of all tables on a page, without header rows and with cells as written. */
export function tableRows(path: string): string[][] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

function isRule(line: string | undefined): boolean {
  return line !== undefined && /^\|(---\|)+$/.test(line);
}

/** Returns the text between the first pair of backticks. */
export function codeOf(cell: string | undefined): string {
  return /`([^`]+)`/.exec(cell ?? '')?.[1] ?? '';
}
