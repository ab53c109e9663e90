import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { loadTranslations, type Translations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { shownTestCaptcha } from '#test/support/captcha.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { ProgressPage } from './progress.tsx';
import { RecoverPage } from './recover.tsx';
import { MessagePage } from './recovery-deps.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };
const MESSAGE = {
  title: 'recover.closed.title',
  text: 'recover.closed.text',
  link: { text: 'recover.start_over', href: '/recover' },
} as const;

/** Every page, with a text in all places where somebody else's may come. */
function pages(translations: Translations, text: string): string[] {
  const problems: readonly FormProblem[] = [{ code: 'invalid', field: 'email', message: text }];
  const form = { path: '/recover', csrf: text, email: text, captcha: shownTestCaptcha(text), problems };
  const all: readonly VNode[] = [
    <RecoverPage translations={translations} loginPath="/login" form={form} />,
    <ProgressPage
      translations={translations}
      email={text}
      minutes={10}
      notice="email_sent"
      form={form}
      recoverPath="/recover"
    />,
    <MessagePage translations={translations} message={MESSAGE} />,
  ];
  return all.map((page) => renderPage({ site, translations, title: 'x' }, page));
}

describe.each(catalog.languages)('the pages of a recovery in language %s', (language) => {
  const translations = catalog.in(language);

  test('render', () => {
    for (const page of pages(translations, 'amira')) expectCleanPage(page);
  });

  test('show what others chose as text (S-74)', () => {
    const expected = pages(translations, 'amira').map(tagsOf);
    for (const text of HOSTILE_TEXTS) expect(pages(translations, text).map(tagsOf)).toEqual(expected);
  });
});
