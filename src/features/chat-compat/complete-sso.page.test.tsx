import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { newId } from '#platform/base/ids.ts';
import { ssoTarget } from '#protocol/chat/sso-redirect.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { textOf } from '#test/support/html-forms.ts';
import { CompleteSsoPage, SsoForbiddenPage } from './complete-sso.page.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

/** @param address that the token goes to; @param text all else that comes from outside */
function pages(language: string, address: string, text: string): string[] {
  const translations = catalog.in(language);
  const target = ssoTarget(address);
  const account = {
    displayName: text,
    identifier: text,
    logoutPath: '/logout',
    action: { kind: 'continue_compat_sso_login', id: newId<'compat-sso-login'>(0) } as const,
  };
  const form = { path: '/complete-compat-sso/x', csrf: text, fields: [['rendered', text]] as const };
  const problems = [{ code: 'csrf_expired', message: translations.t('form.csrf_expired') }];
  const client = { name: target.name, host: undefined, isVerified: false };
  const violations = [{ code: 'too-many-sessions', needToRemove: 2 } as const];
  return [
    <CompleteSsoPage {...{ translations, target, account, form, problems }} />,
    <SsoForbiddenPage
      {...{ translations, client, violations, account }}
      csrf={text}
      retryPath="/complete"
      sessionsPath="/account/sessions"
    />,
  ].map((content) => renderPage({ site, translations, title: 'Sample' }, content));
}

describe.each(catalog.languages)('the pages of single sign-on in language %s', (language) => {
  test.each(['https://app.example/', 'http://app.example/', 'app.example:/signed-in'])('render for %s', (address) => {
    for (const page of pages(language, address, 'Amira')) {
      expectCleanPage(page);
      expect(textOf(page)).toContain(ssoTarget(address).name);
    }
  });
});

test.each(HOSTILE_TEXTS)('they show %.30j as text wherever it comes from (S-74)', (text) => {
  const address = `app.example:${text.replaceAll(/\p{C}|\\/gu, '')}`;
  const honest = pages('en', 'app.example:x', 'Amira').map(tagsOf);
  for (const [index, page] of pages('en', address, text).entries()) {
    expectCleanPage(page);
    const isPlain = (tag: string): boolean => tag !== 'bdi' && tag !== '/bdi';
    expect(tagsOf(page).filter(isPlain)).toEqual(honest[index]?.filter(isPlain));
  }
});
