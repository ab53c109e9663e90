/**
 * Output formats. Records contain untrusted text: the path, and every field of a forged log. No field sends a control
 * character to a terminal or starts a formula in a spreadsheet.
 */
import { csvLine } from '#platform/log/csv.ts';
import { escapeText, jsonString } from '#platform/log/escaping.ts';
import type { ActivityRecord } from './classify.ts';

export const FORMATS = ['table', 'json', 'csv', 'svg'] as const;
export type Format = (typeof FORMATS)[number];

/** Receives records one by one and prints as early as possible. */
export interface Output {
  /** @returns text to print now */
  add(record: ActivityRecord): string;
  /** @returns text to print after the last record */
  end(): string;
}

type Cell = string | number | undefined;

const COLUMNS: readonly (readonly [name: string, width: number, cell: (record: ActivityRecord) => Cell])[] = [
  ['time', 27, ({ time }) => time],
  ['activity', 19, ({ activity }) => activity],
  ['outcome', 10, ({ outcome }) => outcome],
  ['requester', 40, ({ requester }) => requester],
  ['client_address', 15, ({ clientAddress }) => clientAddress],
  ['request_id', 10, ({ requestId }) => requestId],
  ['method', 6, ({ method }) => method],
  ['path', 24, ({ path }) => path],
  ['status', 6, ({ status }) => status],
  ['trace_id', 0, ({ traceId }) => traceId],
];

/** Columns of fixed widths, so that a log can be followed; a longer value moves the rest of its line. */
export function tableOutput(): Output {
  let header = `${COLUMNS.map(([name, width]) => name.toUpperCase().padEnd(width)).join('  ')}\n`;
  return {
    add: (record) => {
      const line = COLUMNS.map(([, width, cell]) => tableCell(cell(record)).padEnd(width)).join('  ');
      const text = `${header}${line.trimEnd()}\n`;
      header = '';
      return text;
    },
    end: () => '',
  };
}

/** One JSON object per line; absent values are null. */
export function jsonOutput(): Output {
  return {
    add: (record) => {
      const members = COLUMNS.map(([name, , cell]) => `"${name}":${jsonCell(cell(record))}`);
      return `{${members.join()}}\n`;
    },
    end: () => '',
  };
}

/** RFC 4180 with a header. */
export function csvOutput(): Output {
  let header = csvLine(COLUMNS.map(([name]) => name));
  return {
    add: (record) => {
      const text = header + csvLine(COLUMNS.map(([, , cell]) => cell(record)));
      header = '';
      return text;
    },
    end: () => header,
  };
}

// Fast path: most text needs no escaping.
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export function tableCell(value: Cell): string {
  if (value === undefined) return '-';
  const text = String(value);
  // Also replaces invisible characters that are not control characters.
  return PLAIN.test(text) ? text : escapeText(text).replace(/\p{C}/gu, '\ufffd');
}

function jsonCell(value: Cell): string {
  if (value === undefined) return 'null';
  if (typeof value === 'number') return String(value);
  return PLAIN.test(value) ? `"${value}"` : jsonString(value);
}
