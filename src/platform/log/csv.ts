import { escapeText } from './escaping.ts';

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const FORMULA = /^[=+\-@]/;

/** Returns a row of CSV (RFC 4180) without control characters, in which no cell is a formula. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(csvCell).join()}\r\n`;
}

/** Prefixes a value that a spreadsheet would evaluate as a formula with an apostrophe. */
function csvCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  const plain = String(value);
  const text = PLAIN.test(plain) ? plain : escapeText(plain);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
