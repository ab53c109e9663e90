import { isValidElement } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, test } from 'vitest';
import { catalogOf } from '#test/support/samples.ts';
import ar from '../../../locales/ar.json' with { type: 'json' };
import de from '../../../locales/de.json' with { type: 'json' };
import en from '../../../locales/en.json' with { type: 'json' };
import es from '../../../locales/es.json' with { type: 'json' };
import fr from '../../../locales/fr.json' with { type: 'json' };
import { loadTranslations } from './load-translations.ts';
import type { MessageKey } from './translations.ts';

const keys = Object.keys(en).filter((key): key is MessageKey => key in en);

const translated = Object.entries({ ar, de, es, fr });

/** Returns the arguments of a message. A plural branch such as `{two hours}` is not an argument. */
function placeholders(text: string): string[] {
  return [
    ...new Set([...text.matchAll(/\{([a-z_]+)(?:\}|, (?:plural|number))/g)].map((match) => match[1] ?? '')),
  ].sort();
}

describe('message files', () => {
  test.each(translated)('%s has exactly the keys of English', (_language, messages) => {
    expect(Object.keys(messages).sort()).toEqual([...keys].sort());
  });

  test('match the languages of the catalog', () => {
    expect([...loadTranslations().languages].sort()).toEqual(['en', ...translated.map(([tag]) => tag)].sort());
  });

  test.each(keys)('%s has the same placeholders in every language and can be formatted', (key) => {
    const names = placeholders(en[key]);
    for (const [language, messages] of translated) {
      expect([language, placeholders(messages[key])]).toEqual([language, names]);
    }
    const catalog = loadTranslations();
    // One count for each plural form in any language.
    for (const count of [0, 1, 2, 3, 11, 100]) {
      const values = Object.fromEntries(names.map((name) => [name, count]));
      for (const language of catalog.languages) {
        const text = catalog.in(language).t(key, values);
        expect(text).not.toBe('');
        expect(text).not.toMatch(/[{}]/);
      }
    }
  });
});

describe('a catalog', () => {
  test('falls back to English for a missing text, with English formatting', () => {
    const catalog = catalogOf({ en, ar: { 'login.title': 'تسجيل الدخول' } });
    expect(catalog.in('ar').t('login.title')).toBe('تسجيل الدخول');
    expect(catalog.in('ar').t('login.rate_limit_exceeded', { minutes: 3 })).toContain('3 minutes');
  });

  test('isolates an English text in right-to-left languages only', () => {
    const catalog = catalogOf({ en, he: { 'login.title': 'כניסה' }, 'de-AT': {}, 'he-IL': {} });
    expect(catalog.in('he').t('login.title')).toBe('כניסה');
    expect(catalog.in('he').t('register.title')).toBe(`\u2066${en['register.title']}\u2069`);
    expect(catalog.in('he-IL').t('register.title')).toBe(`\u2066${en['register.title']}\u2069`);
    expect(catalog.in('he-IL').t('login.title')).toBe('כניסה');
    expect(catalog.in('de-AT').t('register.title')).toBe(en['register.title']);
    expect(catalog.messagesOf('he-IL', ['login.title', 'register.title'])).toEqual({
      'login.title': 'כניסה',
      'register.title': `\u2066${en['register.title']}\u2069`,
    });
  });

  test('falls back to English for an unknown language', () => {
    expect(loadTranslations().in('tlh').language).toBe('en');
  });

  test.each([
    ['en', 'ltr'],
    ['ar', 'rtl'],
    ['he', 'rtl'],
    ['az-Arab', 'rtl'],
    ['zh-Hans', 'ltr'],
  ])('knows that the direction of %s is %s', (language, direction) => {
    expect(catalogOf({ en, [language]: {} }).in(language).direction).toBe(direction);
  });

  test('chooses plural forms', () => {
    const { t } = { t: (minutes: number) => loadTranslations().in('de').t('login.rate_limit_exceeded', { minutes }) };
    expect(t(1)).toContain('eine Minute');
    expect(t(5)).toContain('5 Minuten');
    const arabic = (minutes: number) => loadTranslations().in('ar').t('login.rate_limit_exceeded', { minutes });
    expect(arabic(2)).toContain('دقيقتين');
    expect(arabic(3)).toContain('دقائق');
  });

  test('inserts elements into a sentence without treating values as markup', () => {
    const german = loadTranslations().in('de');
    const parts = german.rich('login.continue', { client: <bdi>{'<b>&'}</bdi> });
    expect(Array.isArray(parts) && parts.some((part) => isValidElement(part))).toBe(true);
    expect(renderToString(<p>{parts}</p>)).toBe('<p>um mit <bdi>&lt;b>&amp;</bdi> fortzufahren</p>');
  });
});
