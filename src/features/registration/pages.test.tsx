import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { assetPaths } from '#browser/asset-files.ts';
import type { FormProblem } from '#browser/components/form.tsx';
import { emailProblem } from '#browser/email-problems.ts';
import { loadTranslations, type Translations } from '#browser/i18n/translations.ts';
import { renderPage } from '#browser/layout.tsx';
import { rejectedName } from '#browser/username-problems.ts';
import { shownTestCaptcha } from '#test/support/captcha.ts';
import { expectCleanPage, HOSTILE_TEXTS, tagsOf } from '#test/support/clean-page.ts';
import { parseForms, textOf } from '#test/support/html-forms.ts';
import { DisplayNamePage } from './display-name.tsx';
import { EmailInUsePage } from './email-in-use.tsx';
import { ClosedPage, RegisterPage } from './register.page.tsx';
import { emailCodeProblem, refusalProblem, submissionProblem, tokenProblem } from './registration-problems.ts';
import { RequesterBannedPage } from './requester-banned.tsx';
import { TokenPage } from './token.tsx';
import { UsernamePage } from './username.tsx';
import { type Shown, VerifyEmailPage } from './verify-email.page.tsx';

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
  const captcha = shownTestCaptcha(text);
  const typed = { csrf: text, username: text, email: text };
  const form = { path: '/register/password', ...typed, passwordRules, terms, captcha, problems };
  const page = <RegisterPage translations={translations} clientName={text} loginPath="/login" form={form} />;
  return render(translations, page);
}

function verifyEmailPage(translations: Translations, shown: Partial<Shown>, email = 'amira@mail.example'): VNode {
  return (
    <VerifyEmailPage
      translations={translations}
      path="/register/steps/x/verify-email"
      csrf="token"
      email={email}
      minutes={5}
      shown={{ isOver: false, notice: undefined, problems: [], changedTo: undefined, ...shown }}
    />
  );
}

/** Problems of that page; the code is not on the first form. */
function codeProblems(translations: Translations): FormProblem[] {
  return (['invalid', 'invalid_code'] as const).map((problem) => emailCodeProblem(translations, problem));
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
    ...[
      ...(['required', 'invalid', 'email-domain-not-allowed', 'email-domain-banned'] as const),
      ...(['email-not-allowed', 'email-banned'] as const),
    ].map((problem) => emailProblem(translations, problem)),
    ...(['required', 'invalid'] as const).map((problem) => tokenProblem(translations, problem)),
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
    expectCleanPage(render(translations, <TokenPage {...step} />));
    expectCleanPage(render(translations, verifyEmailPage(translations, {})));
    expectCleanPage(
      render(
        translations,
        <EmailInUsePage
          translations={translations}
          loginPath="/login"
          recoverPath="/recover"
          registerPath="/register"
        />,
      ),
    );
    expectCleanPage(
      render(translations, <RequesterBannedPage translations={translations} loginPath="/login?kind=change_password" />),
    );
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

describe('the page that asks for the code', () => {
  test('says what is wrong with a code at its field', () => {
    const translations = catalog.in('en');
    const problems = codeProblems(translations);
    const page = render(translations, verifyEmailPage(translations, { problems }));
    expect(page).toMatch(/<input [^>]*inputmode="numeric"[^>]*aria-describedby="code-error code-hint"/);
    for (const { message } of problems) expect(textOf(page)).toContain(message);
  });

  test('has no field for a code when no more can be tried, and the way to another one', () => {
    const translations = catalog.in('en');
    const page = render(translations, verifyEmailPage(translations, { isOver: true }));
    expectCleanPage(page);
    expect(page).not.toContain('name="code"');
    expect(page).toContain('value="resend"');
  });

  test.each(HOSTILE_TEXTS)('shows hostile text %# as text (S-74)', (text) => {
    const translations = catalog.in('en');
    const page = render(translations, verifyEmailPage(translations, { changedTo: text }, text));
    expectCleanPage(page);
    expect(tagsOf(page)).toEqual(tagsOf(render(translations, verifyEmailPage(translations, { changedTo: 'x' }))));
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
