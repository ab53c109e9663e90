import { expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { renderPage } from '#browser/layout.tsx';
import { textOf } from '#test/support/html-forms.ts';
import { catalog, renderSample } from '#test/support/samples.ts';
import { DevicePage, requestingDevice } from './device.page.tsx';
import { decisionProps, deviceSample, samples } from './samples.tsx';

const NOW = Date.UTC(2026, 5, 1, 12);
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

test.each(catalog.languages)('the page says in language %s that the client has no website (S-116)', (language) => {
  const translations = catalog.in(language);
  const props = decisionProps({ translations, text: 'Harbour', token: 'x' });
  const grant = { userCode: 'BCDFGHJK', userAgent: 'x', address: '192.0.2.1', createdAt: NOW };
  const client = { ...props.client, host: undefined };
  const content = <DevicePage {...props} client={client} device={requestingDevice(grant, NOW)} problems={[]} />;
  expect(textOf(renderPage({ site, translations, title: 'x' }, content))).toContain(
    `${translations.t('consent.website')} ${translations.t('device.no_website')}`,
  );
});

test.each(samples.filter(({ name }) => name.startsWith('link-')))('the form shows the error: $name', (sample) => {
  expect(renderSample(sample)).toContain('data-error-code=');
});

test.each([
  [0, 'just now, 12:00 UTC'],
  [61_000, 'a minute ago, 11:58 UTC'],
  [600_000, '10 minutes ago, 11:50 UTC'],
])('the page shows the age of a request: %i ms', (age, expected) => {
  expect(textOf(renderSample(deviceSample('x', age), { now: NOW }))).toContain(expected);
});
