import { expect, test } from 'vitest';
import { byDay, dayText } from './days.ts';

const NOW = new Date(2026, 4, 20, 9, 30);

test.each([
  ['en', new Date(2026, 4, 20, 0, 1), 'today'],
  ['de', new Date(2026, 4, 19, 23, 59), 'gestern'],
  ['en', new Date(2026, 4, 18, 12), 'Monday, May 18'],
  ['en', new Date(2025, 11, 31, 12), 'Wednesday, December 31, 2025'],
])('in %s, %s is named', (language, at, expected) => {
  expect(dayText(language, at, NOW)).toBe(expected);
});

test('the day before a change to summer time is yesterday', () => {
  expect(dayText('en', new Date(2026, 2, 28, 23), new Date(2026, 2, 29, 12))).toBe('yesterday');
});

test('events are grouped by day, the newest first', () => {
  const at = (...parts: [number, number]) => new Date(2026, 4, ...parts).toISOString();
  const events = [
    { id: 1, createdAt: at(18, 23) },
    { id: 2, createdAt: at(20, 1) },
    { id: 3, createdAt: at(20, 8) },
  ];
  expect(byDay(events).map(({ events: ofDay }) => ofDay.map(({ id }) => id))).toEqual([[3, 2], [1]]);
  expect(byDay([])).toEqual([]);
});
