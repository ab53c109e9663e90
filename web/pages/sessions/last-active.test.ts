import { describe, expect, test } from 'vitest';
import en from '../../../locales/en.json' with { type: 'json' };
import { Language } from '../../../src/browser/i18n/language.ts';
import { areaTranslations } from '../../i18n/translations.ts';
import { inactiveBefore, lastActiveText } from './last-active.ts';

const english = areaTranslations(new Language('en', en, undefined));
const NOW = new Date('2026-05-20T12:00:00Z');

function ago(milliseconds: number): Date {
  return new Date(NOW.getTime() - milliseconds);
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('when a session was last active (account-graphql 8.6)', () => {
  test.each([
    [0, 'active now'],
    [3 * MINUTE, 'active now'],
    [3 * MINUTE + 1, 'active 3 minutes ago'],
    [60 * MINUTE, 'active 1 hour ago'],
    [DAY, 'active yesterday'],
    [90 * DAY, 'active 90 days ago'],
    [90 * DAY + 1, 'inactive for 90 days or more'],
    // The browser clock may be behind the server clock.
    [-5 * MINUTE, 'active now'],
  ])('%i ms ago is shown as "%s"', (age, text) => {
    expect(lastActiveText(english, ago(age), NOW)).toBe(text);
  });

  test('inactive sessions are those before the start of a day, so that the query is the same all day', () => {
    const before = new Date(inactiveBefore(NOW));
    expect([before.getHours(), before.getMinutes(), before.getSeconds()]).toEqual([0, 0, 0]);
    const age = NOW.getTime() - before.getTime();
    expect(age).toBeGreaterThanOrEqual(90 * DAY - 2 * 60 * MINUTE);
    expect(age).toBeLessThan(91 * DAY + 2 * 60 * MINUTE);
  });
});
