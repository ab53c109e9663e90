import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '#test/support/html-forms.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import de from '../../../locales/de.json' with { type: 'json' };
import en from '../../../locales/en.json' with { type: 'json' };

let directory: string;
let service: TestService;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-translations-'));
  const place = (name: string, texts: Readonly<Record<string, string>>) =>
    writeFileSync(join(directory, name), JSON.stringify(texts));
  place('de.json', { 'login.title': 'Willkommen im Hafen' });
  place('de-AT.json', { 'login.button': 'Eini' });
  place('fa.json', { 'login.title': 'ورود' });
  service = await startService({
    templates: { translations_path: directory },
    i18n: { default_language: 'fa' },
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

async function login(acceptLanguage?: string): Promise<string> {
  const headers = acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage };
  return await (await fetch(`${service.address}/login`, { headers })).text();
}

test('an additional language is served, in its direction, and listed in the footer (browser-flows 12.3)', async () => {
  const page = await login('fa');
  expect(page).toContain('<html lang="fa" dir="rtl">');
  expect(textOf(page)).toContain('ورود');
  expect([...page.matchAll(/hreflang="([^"]+)"/g)].map(([, language]) => language)).toEqual([
    ...BUNDLED_LANGUAGES,
    'de-AT',
    'fa',
  ]);
  const metadata = await (await fetch(`${service.address}/.well-known/openid-configuration`)).json();
  expect(metadata.ui_locales_supported).toEqual([...new Set([...BUNDLED_LANGUAGES, 'de-AT', 'fa'])]);
});

test('it is the fallback language where i18n.default_language says so', async () => {
  expect(await login()).toContain('<html lang="fa" dir="rtl">');
});

test('missing texts are English', async () => {
  expect(textOf(await login('fa'))).toContain(en['login.password']);
});

test('a bundled text can be replaced by its key, keeping the others', async () => {
  const page = textOf(await login('de'));
  expect(page).toContain('Willkommen im Hafen');
  expect(page).toContain(de['login.password']);
});

test('a language variant falls back to its language, with its replaced texts', async () => {
  const page = textOf(await login('de-AT'));
  expect(page).toContain('Eini');
  expect(page).toContain('Willkommen im Hafen');
  expect(page).toContain(de['login.password']);
});
