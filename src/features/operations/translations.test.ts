import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '#test/support/html-forms.ts';
import { startService, type TestService } from '#test/support/service.ts';
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
  place('he.json', { 'login.title': 'כניסה' });
  service = await startService({
    templates: { translations_path: directory },
    i18n: { default_language: 'he' },
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
  const page = await login('he');
  expect(page).toContain('<html lang="he" dir="rtl">');
  expect(textOf(page)).toContain('כניסה');
  expect([...page.matchAll(/hreflang="([^"]+)"/g)].map(([, language]) => language)).toEqual([
    ...['en', 'de', 'fr', 'es', 'ar', 'de-AT'],
  ]);
  const metadata = await (await fetch(`${service.address}/.well-known/openid-configuration`)).json();
  expect(metadata.ui_locales_supported).toEqual(['en', 'de', 'fr', 'es', 'ar', 'de-AT', 'he']);
});

test('it is the fallback language where i18n.default_language says so', async () => {
  expect(await login()).toContain('<html lang="he" dir="rtl">');
});

test('missing texts are English', async () => {
  expect(textOf(await login('he'))).toContain(en['login.password']);
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
