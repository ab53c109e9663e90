import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { newId } from '#platform/base/ids.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { textOf } from '#test/support/html-forms.ts';
import { deviceProblem } from './decision.tsx';
import { DeviceForbiddenPage, DevicePage, DeviceResultPage, requestingDevice } from './device.page.tsx';
import { LinkPage, linkProblem } from './link.tsx';

const NOW = Date.UTC(2026, 5, 1, 12);
const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

function frame(language: string, content: Parameters<typeof renderPage>[1]): string {
  return renderPage({ site, translations: catalog.in(language), title: 'Sample' }, content);
}

/** All texts that come from outside are `text`. */
function props(language: string, text: string) {
  const translations = catalog.in(language);
  return {
    translations,
    client: { name: text, host: 'tv.example', isVerified: false },
    scopes: ['openid', text],
    resources: [text],
    account: {
      displayName: text,
      identifier: text,
      logoutPath: '/logout',
      action: { kind: 'continue_device_code_grant', id: newId<'device-code-grant'>(NOW) } as const,
    },
    form: { path: '/device/x', csrf: text },
  };
}

function devicePage(language: string, text = 'Harbour', isUnconfirmed = false, age = 61_000): string {
  const all = props(language, text);
  const grant = { userCode: 'BCDFGHJK', userAgent: text, address: '192.0.2.1', createdAt: NOW - age };
  const problems = isUnconfirmed ? [deviceProblem(all.translations, 'required')] : [];
  return frame(language, <DevicePage {...all} device={requestingDevice(grant, NOW)} problems={problems} />);
}

describe.each(catalog.languages)('pages of devices in language %s', (language) => {
  const translations = catalog.in(language);

  test('render', () => {
    const pages = [
      devicePage(language),
      devicePage(language, 'Harbour', true),
      frame(
        language,
        <DeviceForbiddenPage
          {...props(language, 'Harbour')}
          violations={[{ code: 'admin-scope', scopes: ['urn:latchkey:admin'] }]}
          retryPath="/device/1"
          sessionsPath="/account/sessions"
        />,
      ),
      frame(language, <DeviceResultPage translations={translations} isGranted clientName="Harbour" />),
      frame(language, <DeviceResultPage translations={translations} isGranted={false} clientName="Harbour" />),
    ];
    for (const page of pages) expectCleanPage(page);
  });

  test('say so when the application names no website (S-116)', () => {
    const all = { ...props(language, 'Harbour'), client: { name: 'Harbour', host: undefined, isVerified: false } };
    const grant = { userCode: 'BCDFGHJK', userAgent: 'x', address: '192.0.2.1', createdAt: NOW };
    const page = frame(language, <DevicePage {...all} device={requestingDevice(grant, NOW)} problems={[]} />);
    expectCleanPage(page);
    expect(textOf(page)).toContain(`${translations.t('consent.website')} ${translations.t('device.no_website')}`);
  });

  test.each([
    { reason: 'required' } as const,
    { reason: 'csrf-expired' } as const,
    { ok: false, reason: 'invalid-code' } as const,
    { ok: false, reason: 'rate-limited', retryAfterSeconds: 61 } as const,
  ])('the form for the code renders with the problem $reason', (problem) => {
    const problems = [linkProblem(translations, problem)];
    const page = frame(language, <LinkPage {...{ translations, problems }} path="/link" csrf="x" code="BCDF-GHJK" />);
    expectCleanPage(page);
    expect(page).toContain('data-error-code=');
  });
});

test.each([
  [0, 'just now, 12:00 UTC'],
  [61_000, 'a minute ago, 11:58 UTC'],
  [600_000, '10 minutes ago, 11:50 UTC'],
])('the age of a request is told: %i ms', (age, expected) => {
  expect(textOf(devicePage('en', 'Harbour', false, age))).toContain(expected);
});

test.each(HOSTILE_TEXTS)('the page shows %.30j as text wherever it comes from (S-56, S-74)', (text) => {
  const page = devicePage('en', text);
  expectCleanPage(page);
  expect(tagsOf(page).filter((tag) => tag !== 'bdi' && tag !== '/bdi')).toEqual(
    tagsOf(devicePage('en')).filter((tag) => tag !== 'bdi' && tag !== '/bdi'),
  );
});
