import { expect, test } from 'vitest';
import { parseTimeZone } from './time-zone.ts';

test.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  [' europe/berlin ', 'Europe/Berlin'],
  ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['UTC', 'UTC'],
  ['Etc/GMT+5', 'Etc/GMT+5'],
])('accepts the time zone %j', (typed, name) => {
  expect(parseTimeZone(typed)).toBe(name);
});

test.each(['', 'Berlin', '+01:00', 'Europe/', 'Europe/Berlin\u0000', '../etc/passwd', `Europe/${'a'.repeat(64)}`])(
  'rejects %j, which is no name of a time zone',
  (typed) => {
    expect(parseTimeZone(typed)).toBeUndefined();
  },
);
