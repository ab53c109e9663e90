import { expect, test } from 'vitest';
import { textOf } from '#test/support/html-forms.ts';
import { renderSample, sampleNamed } from '#test/support/samples.ts';
import { samples } from './samples.tsx';

test('the index page shows a visitor the links to sign in and to the discovery document', () => {
  const page = renderSample(sampleNamed(samples, 'index'));
  expect(page).toContain('href="/login"');
  expect(page).toContain('href="/register"');
  expect(textOf(page)).toContain('https://example.org/.well-known/openid-configuration');
});

test('the index page shows a signed-in user their account', () => {
  const page = renderSample(sampleNamed(samples, 'index-signed-in'), { text: 'Amira Okafor' });
  expect(textOf(page)).toContain('amira');
  expect(page).toContain('href="/account/"');
  expect(page).not.toContain('openid-configuration');
});
