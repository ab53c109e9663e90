import { describe, expect, test } from 'vitest';
import { expectLinear, timeOf } from '#test/support/measuring.ts';
import { matchLanguages, negotiateLanguage } from './negotiate-language.ts';

const ALL = ['en', 'de', 'fr', 'es', 'es-419', 'ar', 'nb', 'pt-PT', 'pt', 'zh-Hans', 'zh-Hant'];

function byHeader(acceptLanguage: string, available: readonly string[] = ALL): string {
  return negotiateLanguage({ acceptLanguage, defaultLanguage: 'en' }, available);
}

describe('negotiateLanguage', () => {
  test('asks the sources in the order of browser-flows 12.3, 15.28', () => {
    const sources = { uiLocales: 'fr', query: 'de', cookie: 'es', acceptLanguage: 'ar', defaultLanguage: 'nb' };
    expect(negotiateLanguage(sources, ALL)).toBe('fr');
    expect(negotiateLanguage({ ...sources, uiLocales: undefined }, ALL)).toBe('de');
    expect(negotiateLanguage({ ...sources, uiLocales: undefined, query: undefined }, ALL)).toBe('es');
    expect(negotiateLanguage({ acceptLanguage: 'ar', defaultLanguage: 'nb' }, ALL)).toBe('ar');
    expect(negotiateLanguage({ defaultLanguage: 'nb' }, ALL)).toBe('nb');
  });

  test('continues with the next source when one contains only unsupported languages', () => {
    expect(negotiateLanguage({ uiLocales: 'tlh xx', acceptLanguage: 'de', defaultLanguage: 'en' }, ALL)).toBe('de');
  });

  test.each([
    ['de-CH', 'de'],
    ['DE-ch-1996', 'de'],
    ['de-x-private', 'de'],
    ['en;q=0.5, fr;q=0.7', 'fr'],
    ['fr;q=0.5, de;q=0.5', 'fr'],
    ['fr;q=0, de;q=0.1', 'de'],
    ['tlh, *;q=0.5, de;q=0.1', 'en'],
    ['zh-CN, *;q=0.1', 'zh-Hans'],
    ['zh-SG', 'zh-Hans'],
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['no', 'nb'],
    ['nn-NO', 'nb'],
    ['es-MX', 'es-419'],
    ['es-ES', 'es'],
    ['pt-AO', 'pt-PT'],
    ['pt-BR', 'pt'],
    ['zh', 'zh-Hans'],
    ['zh-MY', 'zh-Hans'],
  ])('Accept-Language "%s" gives %s', (header, language) => {
    expect(byHeader(header)).toBe(language);
  });

  test.each([
    ['pt', 'pt'],
    ['pt-PT', 'pt'],
    ['pt-AO', 'pt'],
    ['pt-BR', 'pt-BR'],
    ['nb', 'nb'],
    ['no', 'nb'],
    ['nn', 'nb'],
    ['zh', 'zh-Hans'],
    ['zh-CN', 'zh-Hans'],
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-Hant-HK', 'zh-Hant'],
    ['he-IL', 'he'],
    ['iw', 'he'],
    ['iw-IL', 'he'],
  ])('of these languages, "%s" gives %s', (header, language) => {
    expect(byHeader(header, ['en', 'pt', 'pt-BR', 'nb', 'zh-Hans', 'zh-Hant', 'he'])).toBe(language);
  });

  test('does not serve one Chinese script to a reader of the other (browser-flows 15.28)', () => {
    expect(byHeader('zh-TW', ['en', 'zh', 'zh-Hans'])).toBe('en');
  });

  test.each(['de;q=2', 'de;level=1', 'de, é', 'de;;q=1', '<script>', `de,${'x'.repeat(2000)}`, ' '])(
    'ignores the malformed header "%.20s"',
    (header) => {
      expect(byHeader(header)).toBe('en');
    },
  );

  test.each(['a-', ',', 'de;q=0.', 'de,', ' '])('takes linear time for a header full of %j', async (part) => {
    await expectLinear((size) => timeOf(() => byHeader(`a${part.repeat(size / part.length)};q=1`)), 4000);
  });
});

describe('matchLanguages', () => {
  test('returns the first supported tag and ignores garbage around it (browser-flows 15.28)', () => {
    expect(matchLanguages('"><b> ../.. fr-CA de', ALL)).toBe('fr');
    expect(matchLanguages('', ALL)).toBeUndefined();
    expect(matchLanguages(undefined, ALL)).toBeUndefined();
  });
});
