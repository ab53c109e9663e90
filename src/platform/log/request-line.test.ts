import { expect, test } from 'vitest';
import { REQUEST_LINE } from '#test/support/log-expression.ts';
import { requestLinePattern } from './format-request-line.ts';
import { LINE_HEAD } from './request-line.ts';

test('the fields of the request line result in the published regular expression (operations 5.2)', () => {
  const named = (group: string, shape: string): string => `(?<${group}>${shape})`;
  const { time, level } = LINE_HEAD;
  const head = `${named(time.group, time.shape)} +${named(level.group, level.shape)}`;
  expect(new RegExp(requestLinePattern(head, named)).source).toBe(REQUEST_LINE.source);
});
