import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import type { NoticeCode } from '#browser/notices.tsx';
import { shownTestCaptcha } from '#test/support/captcha.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { parseForms, textOf } from '#test/support/html-forms.ts';
import { LoginPage, type LoginProblem, loginProblems } from './login.page.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

interface Sample {
  readonly language?: string;
  readonly problem?: LoginProblem;
  readonly text?: string;
  readonly hasForm?: boolean;
  readonly notice?: NoticeCode;
  readonly providers?: readonly string[];
}

function render({
  language = 'en',
  problem,
  text = 'Harbour Chat',
  hasForm = true,
  notice,
  providers = [],
}: Sample): string {
  const translations = catalog.in(language);
  const problems = problem === undefined ? [] : loginProblems(translations, problem, { acceptsEmail: true });
  const form = {
    path: '/login?kind=change_password',
    csrf: text,
    username: text,
    problems,
    acceptsEmail: true,
    captcha: shownTestCaptcha(text),
  };
  const page = (
    <LoginPage
      translations={translations}
      serviceName={text}
      clientName={text}
      message={text}
      notice={notice}
      form={hasForm ? form : undefined}
      recoverPath={hasForm ? '/recover' : undefined}
      providers={providers.map((name) => ({
        name,
        brand: 'github',
        href: '/upstream/authorize/x?kind=change_password',
      }))}
      linkedProvider={text}
      registerPath={hasForm ? '/register?kind=change_password' : undefined}
    />
  );
  return renderPage({ site, translations, title: translations.t('login.title') }, page);
}

const PROBLEMS: LoginProblem[] = [
  { ok: false, reason: 'required', fields: ['username', 'password'] },
  { ok: false, reason: 'invalid-credentials' },
  { ok: false, reason: 'rate-limited', retryAfterSeconds: 61 },
  { reason: 'csrf-expired' },
  { reason: 'too-long' },
  { ok: false, reason: 'overloaded', retryAfterSeconds: 5 },
];

describe.each(catalog.languages)('the sign-in page in language %s', (language) => {
  test('renders with and without a form', () => {
    expectCleanPage(render({ language }));
    const closed = render({ language, hasForm: false });
    expectCleanPage(closed);
    expect(parseForms(closed, '/login')).toEqual([]);
  });

  test('says what came before', () => {
    const page = render({ language, notice: 'password_recovered' });
    expectCleanPage(page);
    expect(textOf(page)).toContain(catalog.in(language).t('notice.password_recovered'));
  });

  test('offers other services with and without a form', () => {
    for (const hasForm of [true, false]) expectCleanPage(render({ language, hasForm, providers: ['One', 'Two'] }));
  });

  test.each(PROBLEMS)('renders with the problem $reason', (problem) => {
    const page = render({ language, problem });
    expectCleanPage(page);
    expect(page).toContain('data-error-code=');
  });
});

describe('the sign-in page', () => {
  test('keeps the continuation in the address it posts to and what was typed in its field, but never a password', () => {
    const [form] = parseForms(render({ text: 'amira' }), '/login');
    expect(form?.action).toBe('/login?kind=change_password');
    expect(Object.fromEntries(form?.inputs ?? [])).toEqual({ csrf: 'amira', username: 'amira', password: '' });
  });

  test('tells the browser which fields are which (1.3.5)', () => {
    expect(render({})).toMatch(/<input [^>]*id="username"[^>]*autocomplete="username"/);
    expect(render({})).toMatch(/<input [^>]*id="password"[^>]*autocomplete="current-password"/);
  });

  test('rounds the time to wait up to minutes', () => {
    const wait = (retryAfterSeconds: number) => {
      return textOf(render({ problem: { ok: false, reason: 'rate-limited', retryAfterSeconds } }));
    };
    expect(wait(1)).toContain('wait a minute');
    expect(wait(60)).toContain('wait a minute');
    expect(wait(61)).toContain('wait 2 minutes');
  });

  test.each(HOSTILE_TEXTS)('shows %.30j as text wherever it comes from (S-74)', (text) => {
    const page = render({ text });
    expectCleanPage(page);
    expect(tagsOf(page)).toEqual(tagsOf(render({})));
  });
});
