import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { loadTranslations, type Translations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { parseForms, textOf } from '#test/support/html-forms.ts';
import { DisplayNamePage } from './display-name.tsx';
import { RegisterPage } from './register.page.tsx';
import { ClosedPage } from './register.tsx';
import { refusalProblem, rejectedName, submissionProblem } from './registration-problems.ts';
import { UsernamePage } from './username.tsx';

const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };
const NO_NAME = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
const policy = {
  serverName: 'example.org',
  allowedUsernames: NO_NAME,
  bannedUsernames: NO_NAME,
  reservedUsernames: new Set<string>(),
};

function render(translations: Translations, content: VNode): string {
  return renderPage({ site, translations, title: 'x' }, content);
}

function registerPage(translations: Translations, text: string, problems: readonly FormProblem[] = []): string {
  const terms = { uri: 'https://example.org/terms', isAccepted: false };
  const passwordRules = { minimumScore: 3, minimumLength: 8, serviceName: text };
  const form = { path: '/register/password', csrf: text, username: text, passwordRules, terms, problems };
  const page = <RegisterPage translations={translations} clientName={text} loginPath="/login" form={form} />;
  return render(translations, page);
}

function everyProblem(translations: Translations): FormProblem[] {
  const names = rejectedName(
    translations,
    'Name',
    [
      ...([
        'required',
        'username-too-short',
        'username-too-long',
        'username-all-numeric',
        'username-invalid-chars',
      ] as const),
      ...(['username-reserved', 'username-banned', 'username-not-allowed', 'exists'] as const),
    ],
    policy,
  );
  const others = [
    { field: 'password', problem: 'required' },
    { field: 'password', problem: 'password_too_short' },
    { field: 'password', problem: 'password_too_long' },
    { field: 'password', problem: 'password_compromised' },
    { field: 'password', problem: 'password_too_weak' },
    { field: 'password', problem: 'password_invalid' },
    { field: 'password_confirm', problem: 'required' },
    { field: 'password_confirm', problem: 'password_mismatch' },
    { field: 'accept_terms', problem: 'required' },
  ] as const;
  const refusals = [
    { reason: 'csrf-expired' },
    { reason: 'requester-banned' },
    { reason: 'unknown-provider' },
    { reason: 'invalid-action' },
    { reason: 'rate-limited', retryAfterSeconds: 1200 },
    { reason: 'overloaded', retryAfterSeconds: 5 },
  ] as const;
  return [
    ...names.problems,
    ...rejectedName(translations, 'Name', ['username-invalid-chars'], policy).problems,
    ...others.map((problem) => submissionProblem(translations, problem, 8)),
    ...refusals.map((refusal) => refusalProblem(translations, refusal)),
  ];
}

describe.each(catalog.languages)('the pages of a registration in language %s', (language) => {
  const translations = catalog.in(language);

  test('render', () => {
    expectCleanPage(registerPage(translations, 'amira'));
    expectCleanPage(render(translations, <ClosedPage translations={translations} loginPath="/login" />));
    const step = { translations, path: '/register/steps/x', csrf: 'token', problems: [] };
    expectCleanPage(render(translations, <DisplayNamePage {...step} username="amira" displayName="Amira" />));
    expectCleanPage(render(translations, <UsernamePage {...step} lostName="amira" username="amira" />));
  });

  test('say in words what is wrong, all of it, in this language', () => {
    const problems = everyProblem(translations);
    const page = registerPage(translations, 'amira', problems);
    expectCleanPage(page);
    const text = textOf(page);
    for (const { message } of problems) expect(text).toContain(message);
    for (const { message } of problems) expect(message).not.toMatch(/[{}]|^[a-z_.]+$/);
  });
});

describe('the form that begins a registration', () => {
  test('shows several problems of one field, each with its code', () => {
    const problems = rejectedName(catalog.in('en'), '_Ö', ['username-invalid-chars', 'username-reserved'], policy);
    const page = registerPage(catalog.in('en'), '_Ö', problems.problems);
    expect([...page.matchAll(/<p data-error-code="([^"]+)"/g)].map((match) => match[1])).toEqual([
      'username-invalid-chars',
      'username-reserved',
    ]);
    expect(page).toMatch(/<input [^>]*id="username"[^>]*aria-describedby="username-error username-hint"/);
  });

  test('has a box for the terms that says where they are', () => {
    const page = registerPage(catalog.in('en'), 'amira');
    expect(page).toMatch(/<input type="checkbox" value="on"[^>]*id="accept_terms"/);
    expect(page).toContain('<label for="accept_terms">I accept the <a href="https://example.org/terms"');
    expect(Object.fromEntries(parseForms(page, '/')[0]?.inputs ?? [])).not.toHaveProperty('accept_terms');
  });

  test.each(HOSTILE_TEXTS)('shows hostile text %# as text wherever it comes from (S-74)', (text) => {
    const translations = catalog.in('en');
    const problems = rejectedName(translations, text, ['username-invalid-chars'], policy).problems;
    const page = registerPage(translations, text, problems);
    expectCleanPage(page);
    expect(tagsOf(page)).toEqual(tagsOf(registerPage(translations, 'Amira Ö', problems)));
    const step = { translations, path: '/register/steps/x', csrf: text, problems: [] };
    const displayName = render(translations, <DisplayNamePage {...step} username={text} displayName={text} />);
    expectCleanPage(displayName);
    expectCleanPage(render(translations, <UsernamePage {...step} lostName={text} username={text} />));
  });
});
