/** Describes the request line for the reference of the log, from the table of its fields. */
import { requestLinePattern } from '../../src/platform/log/format-request-line.ts';
import {
  LINE_HEAD,
  OPTIONAL_FIELDS,
  REQUEST_EVENT,
  REQUEST_PARTS,
  STATISTICS,
} from '../../src/platform/log/request-line.ts';
import { code, table } from './markdown.ts';

/** Returns a table with one row for each field, in their order. */
export function requestLineTable(): string {
  const row = ({ group, member, meaning }: (typeof REQUEST_PARTS | typeof OPTIONAL_FIELDS)[number]) => [
    code(member),
    code(group),
    meaning,
  ];
  return table(
    ['JSON', 'Group', 'Meaning'],
    [
      [code(LINE_HEAD.time.member), code(LINE_HEAD.time.group), LINE_HEAD.time.meaning],
      [code(LINE_HEAD.level.member), code(LINE_HEAD.level.group), LINE_HEAD.level.meaning],
      [code('event'), '', `${code(REQUEST_EVENT)}, on these lines only`],
      ...REQUEST_PARTS.map(row),
      ...STATISTICS.map(({ group, member, meaning }) => [code(`stats.${member}`), code(group), meaning]),
      ...OPTIONAL_FIELDS.map(row),
    ],
  );
}

/** Returns the regular expression of the line as a block of code. */
export function requestLineExpression(): string {
  const named = (group: string, shape: string): string => `(?<${group}>${shape})`;
  const { time, level } = LINE_HEAD;
  const head = `${named(time.group, time.shape)} +${named(level.group, level.shape)}`;
  return `\`\`\`\n${requestLinePattern(head, named)}\n\`\`\``;
}
