import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import type { User } from '#domain/accounts/user.ts';
import { newId } from '#platform/base/ids.ts';
import { expectCleanPage, HOSTILE_TEXTS } from '#test/support/clean-page.ts';
import { textOf } from '#test/support/html-forms.ts';
import { SignedInPage, VisitorPage } from './index.page.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

function userNamed(displayName: string): User {
  return {
    id: newId<'user'>(0),
    username: 'amira',
    displayName,
    locale: undefined,
    canRequestAdmin: false,
    isLocked: false,
    isDeactivated: false,
  };
}

describe.each(catalog.languages)('the index page in language %s', (language) => {
  const translations = catalog.in(language);
  const render = (content: VNode) => renderPage({ site, translations, title: 'x' }, content);

  test('shows a visitor the links to sign in and to the discovery document', () => {
    const page = render(
      <VisitorPage
        translations={translations}
        serviceName="example.org"
        discoveryUrl="https://example.org/.well-known/openid-configuration"
        loginPath="/login"
        registerPath="/register"
      />,
    );
    expectCleanPage(page);
    expect(page).toContain('href="/login"');
    expect(page).toContain('href="/register"');
    expect(textOf(page)).toContain('https://example.org/.well-known/openid-configuration');
  });

  test.each(['Amira Okafor', ...HOSTILE_TEXTS])(
    'shows a signed-in person called %.30j their account',
    (displayName) => {
      const page = render(
        <SignedInPage
          translations={translations}
          serviceName={displayName}
          discoveryUrl={undefined}
          user={userNamed(displayName)}
          logoutPath="/logout"
          csrf="token"
          accountPath="/account/"
        />,
      );
      expectCleanPage(page);
      expect(textOf(page)).toContain('amira');
      expect(page).toContain('href="/account/"');
      expect(page).not.toContain('openid-configuration');
    },
  );
});
