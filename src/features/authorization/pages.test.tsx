import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations, type Translations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { newId } from '#platform/base/ids.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { ConsentPage, ForbiddenPage, OtherAccountPage } from './consent.page.tsx';
import { ExpiredPage, FormPostPage, OpeningPage } from './finished.page.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };
const CALLBACK = 'https://app.example.org/callback';

function decisionProps(translations: Translations, text: string) {
  return {
    translations,
    client: {
      name: text,
      host: text,
      redirectTarget: text,
      isVerified: false,
      policyUri: `https://app.example.org/?${text}`,
      tosUri: 'https://app.example.org/terms',
    },
    scopes: ['openid', 'urn:latchkey:admin', text],
    resources: [text],
    account: {
      displayName: `A ${text}`,
      identifier: text,
      logoutPath: '/logout',
      action: { kind: 'continue_authorization_grant', id: newId<'authorization-grant'>(1) },
    },
    form: { path: '/authorize', csrf: text, grantId: text },
  } as const;
}

/** Every page of this feature, with one text in every place that takes one. */
const PAGES: Readonly<Record<string, (translations: Translations, text: string) => VNode>> = {
  consent: (translations, text) => <ConsentPage {...decisionProps(translations, text)} problems={[]} />,
  'rejected consent': (translations, text) => (
    <ConsentPage {...decisionProps(translations, text)} problems={[{ code: 'invalid_action', message: text }]} />
  ),
  forbidden: (translations, text) => (
    <ForbiddenPage
      {...decisionProps(translations, text)}
      violations={[
        { code: 'admin-scope', scopes: ['urn:latchkey:admin', text] },
        { code: 'requester-banned', setting: 'banned_ips' },
        { code: 'too-many-sessions', needToRemove: 3 },
      ]}
      retryPath="/authorize/1"
      sessionsPath="/account/sessions"
    />
  ),
  'another account': (translations, text) => (
    <OtherAccountPage {...decisionProps(translations, text)} wanted={{ kind: 'named', identifier: text }} />
  ),
  'another account that is gone': (translations, text) => (
    <OtherAccountPage {...decisionProps(translations, text)} wanted={{ kind: 'gone' }} />
  ),
  'another account that is not named': (translations, text) => (
    <OtherAccountPage {...decisionProps(translations, text)} wanted={{ kind: 'unnamed' }} />
  ),
  'expired with a link': (translations) => (
    <ExpiredPage translations={translations} wayBack={{ kind: 'link', href: CALLBACK }} />
  ),
  'expired with a form': (translations, text) => (
    <ExpiredPage translations={translations} wayBack={{ kind: 'form', action: CALLBACK, fields: [['state', text]] }} />
  ),
  'expired without a way back': (translations) => <ExpiredPage translations={translations} wayBack={undefined} />,
  opening: (translations) => <OpeningPage translations={translations} />,
  'form_post response': (translations, text) => (
    <FormPostPage translations={translations} redirectUri={CALLBACK} fields={[['state', text]]} />
  ),
};

function render(name: string, language: string, text: string): string {
  const translations = catalog.in(language);
  const content = PAGES[name]?.(translations, text);
  if (content === undefined) throw new Error(`no page ${name}`);
  return renderPage({ site, translations, title: 'test' }, content);
}

describe.each(Object.keys(PAGES))('%s page', (name) => {
  test.each(catalog.languages)('renders in language %s', (language) => {
    expectCleanPage(render(name, language, 'Harbour Chat'));
  });

  test.each(HOSTILE_TEXTS)('shows %.30j as text wherever it comes from (S-74)', (text) => {
    const page = render(name, 'en', text);
    expectCleanPage(page);
    expect(tagsOf(page)).toEqual(tagsOf(render(name, 'en', 'Harbour Chat')));
  });
});

describe('privacy policy and terms of the client', () => {
  function rules(addresses: { policyUri?: string; tosUri?: string }): string[] {
    const english = catalog.in('en');
    const props = decisionProps(english, 'Harbour Chat');
    const client = { ...props.client, policyUri: undefined, tosUri: undefined, ...addresses };
    const page = renderPage(
      { site, translations: english, title: 'test' },
      <ConsentPage {...props} client={client} problems={[]} />,
    );
    return page.match(/<a [^>]*target="_blank"[^>]*>[^<]*<\/a>/g) ?? [];
  }

  test('are linked in a new tab that learns nothing of this page', () => {
    const addresses = { policyUri: 'https://app.example.org/privacy', tosUri: 'https://app.example.org/terms' };
    expect(rules(addresses)).toEqual([
      '<a href="https://app.example.org/privacy" target="_blank" rel="noopener noreferrer">Privacy</a>',
      '<a href="https://app.example.org/terms" target="_blank" rel="noopener noreferrer">Terms</a>',
    ]);
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://app.example.org/',
    'blob:https://app.example.org/x',
    '/',
  ])('are left out when their address is %s (S-74)', (address) => {
    expect(rules({ policyUri: address, tosUri: address })).toEqual([]);
  });
});
