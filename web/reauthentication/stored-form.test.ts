import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepForm, restoredValues, takeStoredPath } from './stored-form.ts';

const FORM = { name: 'add-email', values: { email: 'ines@mail.example' } };
const MINUTE_MS = 60_000;

beforeEach(() => {
  const items = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => items.set(name, value),
    removeItem: (name: string) => items.delete(name),
  });
  vi.stubGlobal('location', { pathname: '/account/', search: '?page=2' });
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('restores the form input once, at its original URL', () => {
  keepForm(FORM);
  expect(takeStoredPath('/account/')).toBe('/account/?page=2');
  expect(restoredValues('another')).toBeUndefined();
  expect(restoredValues('add-email')).toEqual(FORM.values);
  expect(restoredValues('add-email')).toBeUndefined();
  expect(takeStoredPath('/account/')).toBeUndefined();
});

test('returns to a page without a form', () => {
  keepForm(undefined);
  expect(takeStoredPath('/account/')).toBe('/account/?page=2');
  expect(restoredValues('add-email')).toBeUndefined();
});

test('keeps nothing for longer than ten minutes', () => {
  keepForm(FORM);
  vi.setSystemTime(Date.now() + 10 * MINUTE_MS + 1);
  expect(takeStoredPath('/account/')).toBeUndefined();
  expect(restoredValues('add-email')).toBeUndefined();
});

test('ignores a URL outside of the account area and an invalid one', () => {
  vi.stubGlobal('location', { pathname: '/elsewhere', search: '' });
  keepForm(FORM);
  expect(takeStoredPath('/account/')).toBeUndefined();
  sessionStorage.setItem('account.kept', '{');
  expect(takeStoredPath('/account/')).toBeUndefined();
});
