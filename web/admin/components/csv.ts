/** A spreadsheet would calculate a cell that starts with one of these (CSV injection). */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;
const QUOTED = /["\r\n,]/;
/** Tells spreadsheets that the file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Returns rows as CSV (RFC 4180), in which no cell is a formula. */
export function csvText(rows: readonly (readonly (string | null | undefined)[])[]): string {
  return BYTE_ORDER_MARK + rows.map((cells) => `${cells.map(csvCell).join()}\r\n`).join('');
}

function csvCell(value: string | null | undefined): string {
  const text = value ?? '';
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
