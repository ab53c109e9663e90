import { code, table } from './markdown.ts';
import type { LogCall } from './source-facts.ts';

/** Returns a table with one row for each log event. */
export function logEventTable(calls: readonly LogCall[]): string {
  const rows = calls.map(({ event, level, message, fields }) => [
    code(event),
    level,
    message,
    fields.map(code).join(', '),
  ]);
  const distinct = new Map(rows.map((row) => [row.join('|'), row]));
  const sorted = [...distinct.keys()].toSorted().map((key) => distinct.get(key) ?? []);
  return table(['Event', 'Level', 'Message', 'Fields'], sorted);
}
