import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { parseForms } from '#test/support/html-forms.ts';
import { LogoutPage } from './logout.page.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

describe.each(catalog.languages)('the sign-out page in language %s', (language) => {
  const translations = catalog.in(language);
  const render = (page: Partial<Parameters<typeof LogoutPage>[0]>) => {
    const content = (
      <LogoutPage translations={translations} logoutPath="/logout" csrf="token" problems={[]} fields={[]} {...page} />
    );
    return renderPage({ site, translations, title: translations.t('logout.title') }, content);
  };

  test('has a button that signs out', () => {
    expectCleanPage(render({}));
    expect(parseForms(render({}), '/')).toMatchObject([{ method: 'POST', action: '/logout' }]);
  });

  test('says that the form was too old, and carries on what it asked for', () => {
    const problems = [{ code: 'csrf_expired', message: translations.t('form.csrf_expired') }];
    const page = render({ problems, fields: [['scope', 'everywhere']] });
    expectCleanPage(page);
    expect(parseForms(page, '/')[0]?.inputs.get('scope')).toBe('everywhere');
  });
});
