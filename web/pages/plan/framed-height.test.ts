import { expect, test } from 'vitest';
import { framedHeight } from './framed-height.ts';

const frame = { origin: 'https://plans.example', window: { name: 'framed' } };
const message = { origin: frame.origin, source: frame.window, data: { height: 640 } };

test.each([
  [640, 640],
  [640.2, 641],
  [1, 1],
  [10_001, 10_000],
  [Number.POSITIVE_INFINITY, 10_000],
  [0, undefined],
  [-5, undefined],
  [Number.NaN, undefined],
  ['640', undefined],
  [undefined, undefined],
])('a framed page that requests %s gets %s', (height, expected) => {
  expect(framedHeight({ ...message, data: { height } }, frame)).toBe(expected);
});

test.each([null, 640, 'height', {}, { hight: 640 }])('the message %j requests nothing', (data) => {
  expect(framedHeight({ ...message, data }, frame)).toBeUndefined();
});

test.each([
  { origin: 'https://plans.example.evil' },
  { origin: 'http://plans.example' },
  { origin: 'null' },
  { source: { name: 'another window of that origin' } },
  { source: null },
])('ignores a message with %j, which is not from the framed page', (foreign) => {
  expect(framedHeight({ ...message, ...foreign }, frame)).toBeUndefined();
});

test('without a frame ignores every message', () => {
  expect(framedHeight({ ...message, source: null }, { ...frame, window: null })).toBeUndefined();
});
