import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { isValidElement } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, test } from 'vitest';
import { messageProblem } from '#config/message-rules.ts';
import { catalogOf } from '#test/support/samples.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import en from '../../../locales/en.json' with { type: 'json' };
import { loadTranslations } from './load-translations.ts';
import type { MessageKey } from './translations.ts';

const keys = Object.keys(en).filter((key): key is MessageKey => key in en);
const folder = join(import.meta.dirname, '../../../locales');
const catalog = loadTranslations();

function textsOf(language: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8'));
}

/** Plural forms of a language that whole numbers need. Some languages have a form only for fractions or millions. */
function neededForms(language: string): readonly string[] {
  const rules = new Intl.PluralRules(language);
  return [...new Set(Array.from({ length: 1001 }, (_, count) => rules.select(count)))];
}

const PLURAL = /, plural,/;

/** Returns the problems of plurals anywhere in a message. */
function pluralProblems(language: string, text: string): readonly string[] {
  if (!PLURAL.test(text)) return [];
  const needed = neededForms(language);
  const known = new Set<string>(new Intl.PluralRules(language).resolvedOptions().pluralCategories);
  const within = (elements: ReturnType<IntlMessageFormat['getAst']>): readonly string[] =>
    elements.flatMap((element) => {
      if (!('options' in element)) return [];
      const forms = Object.keys(element.options);
      const below = Object.values(element.options).flatMap(({ value }) => within(value));
      if (!('pluralType' in element)) return below;
      return [
        ...needed.filter((form) => !forms.includes(form)).map((form) => `{${element.value}} lacks the form "${form}"`),
        ...forms
          .filter((form) => !form.startsWith('=') && !known.has(form))
          .map((form) => `the language has no form "${form}"`),
        ...below,
      ];
    });
  return within(new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst());
}

/** Letters of these scripts are about as wide as two Latin ones. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Approximate width of a text, in Latin letters. Combining marks have none. */
function widthOf(text: string): number {
  const visible = text.replaceAll(/\p{M}/gu, '');
  return visible.length + [...visible.matchAll(WIDE)].length;
}

/** A label that is much longer than the English one does not fit at 320 px: a button has about 30 letters a line. */
const MAX_GROWTH = 2;
const MAX_ADDED_LETTERS = 24;
const MAX_WORD_LETTERS = 32;

test('there is one message file for each row of the table of languages', () => {
  expect(readdirSync(folder).sort()).toEqual(BUNDLED_LANGUAGES.map((tag) => `${tag}.json`).sort());
  expect(catalog.languages).toEqual(BUNDLED_LANGUAGES);
});

describe.each(BUNDLED_LANGUAGES)('the message file of %s', (language) => {
  const texts = textsOf(language);

  test('has exactly the keys of English', () => {
    expect(Object.keys(texts).sort()).toEqual([...keys].sort());
  });

  test('has the values of the English texts, and the plural forms of its language', () => {
    const problems = keys.flatMap((key) => {
      const wrong = messageProblem(language, texts[key] ?? '', en[key]);
      return (wrong === undefined ? pluralProblems(language, texts[key] ?? '') : [wrong]).map((it) => `${key}: ${it}`);
    });
    expect(problems).toEqual([]);
  });

  test('fits where the English texts do, also at 320 px (browser-flows 12.3)', () => {
    const problems = keys.flatMap((key) => {
      const values = Object.fromEntries([...en[key].matchAll(/\{(\w+)/g)].map(([, name]) => [name, 8]));
      const [english, text] = [catalog.in('en').t(key, values), catalog.in(language).t(key, values)];
      const limit = MAX_GROWTH * widthOf(english) + MAX_ADDED_LETTERS;
      // Names of settings and addresses break at their punctuation, and these scripts anywhere.
      const words = text.split(/[\s\u00ad/_.=:()-]+/).filter((word) => word.search(WIDE) === -1);
      return [
        ...(widthOf(text) > limit ? [`${key}: ${text}: longer than ${limit} letters`] : []),
        ...words.filter((word) => widthOf(word) > MAX_WORD_LETTERS).map((word) => `${key}: ${word}: wider than a line`),
      ];
    });
    expect(problems).toEqual([]);
  });

  test('formats every text with any count', () => {
    for (const key of keys) {
      const names = [...en[key].matchAll(/\{(\w+)/g)].map(([, name]) => name);
      for (const count of PLURAL.test(texts[key] ?? '') ? [0, 1, 2, 3, 11, 100] : [1]) {
        const text = catalog.in(language).t(key, Object.fromEntries(names.map((name) => [name, count])));
        expect(text, key).not.toMatch(/^$|[{}]/);
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
