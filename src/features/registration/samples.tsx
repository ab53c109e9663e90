import type { FormProblem } from '#browser/components/form.tsx';
import { emailProblem } from '#browser/email-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { pageSample, type SampleContext, sampleCaptcha } from '#browser/sample.ts';
import { rejectedName } from '#browser/username-problems.ts';
import { DisplayNamePage } from './display-name.tsx';
import { EmailInUsePage } from './email-in-use.tsx';
import { HomeserverLatePage } from './homeserver-late.tsx';
import { ChoicePage, ClosedPage, RegisterPage } from './register.page.tsx';
import { emailCodeProblem, refusalProblem, submissionProblem, tokenProblem } from './registration-problems.ts';
import { RequesterBannedPage } from './requester-banned.tsx';
import { TokenPage } from './token.tsx';
import { UsernamePage } from './username.tsx';
import { type Shown, VerifyEmailPage } from './verify-email.page.tsx';

const NO_NAME = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };
export const samplePolicy = {
  serverName: 'example.org',
  allowedUsernames: NO_NAME,
  bannedUsernames: NO_NAME,
  reservedUsernames: new Set<string>(),
};

const SUGGESTIONS = { names: ['amira47', 'amira305', 'amira2718'], sentAs: 'username' } as const;

const NAMES = [
  ...(['required', 'username-too-short', 'username-too-long', 'username-all-numeric'] as const),
  ...([
    'username-invalid-chars',
    'username-identifier',
    'username-reserved',
    'username-banned',
    'username-not-allowed',
    'exists',
  ] as const),
] as const;
const EMAILS = [
  ...(['required', 'invalid', 'email-domain-not-allowed', 'email-domain-banned'] as const),
  ...(['email-not-allowed', 'email-banned', 'email-unreachable'] as const),
];
const OTHERS = [
  { field: 'password', problem: 'required' },
  { field: 'password', problem: 'password_too_short' },
  { field: 'password', problem: 'password_too_long' },
  { field: 'password', problem: 'password_compromised' },
  { field: 'password', problem: 'password_leaked' },
  { field: 'password', problem: 'password_too_weak' },
  { field: 'password', problem: 'password_invalid' },
  { field: 'password', problem: 'password_mismatch' },
  { field: 'accept_terms', problem: 'required' },
] as const;
const REFUSALS = [
  { reason: 'csrf-expired' },
  { reason: 'requester-banned' },
  { reason: 'unknown-provider' },
  { reason: 'invalid-action' },
  { reason: 'rate-limited', retryAfterSeconds: 1200 },
  { reason: 'overloaded', retryAfterSeconds: 5 },
  { ok: false, reason: 'captcha-unsolved' },
  { ok: false, reason: 'captcha-unavailable' },
] as const;

/** Every possible problem of the first form. */
export function everyProblem(translations: Translations): FormProblem[] {
  return [
    ...rejectedName(translations, 'Name', NAMES, samplePolicy).problems,
    ...rejectedName(translations, 'Name', ['username-invalid-chars'], samplePolicy).problems,
    ...EMAILS.map((problem) => emailProblem(translations, problem)),
    ...(['required', 'invalid'] as const).map((problem) => tokenProblem(translations, problem)),
    ...OTHERS.map((problem) => submissionProblem(translations, problem, 8)),
    ...REFUSALS.map((refusal) => refusalProblem(translations, refusal)),
  ];
}

/** @param problems problems that the form was rejected for */
export function registerSample(name: string, problems: (translations: Translations) => readonly FormProblem[]) {
  return pageSample(name, ({ translations, token, text }) => ({
    title: translations.t('register.title'),
    hasNewPassword: true,
    captcha: sampleCaptcha(text).widget,
    isRejected: problems(translations).length > 0,
    content: (
      <RegisterPage
        translations={translations}
        clientName={text}
        loginPath="/login"
        form={{
          ...{ path: '/register/password', csrf: token, username: text, email: { value: text, isFixed: false } },
          suggestions: problems(translations).length > 0 ? { names: [text], sentAs: 'suggestion' } : undefined,
          passwordRules: { minimumScore: 3, minimumLength: 8, serviceName: text },
          terms: { uri: 'https://example.org/terms', isAccepted: false },
          captcha: sampleCaptcha(text),
          problems: problems(translations),
        }}
      />
    ),
  }));
}

/** @param shown state of the page; the sample's text serves as the address entered last */
export function verifyEmailSample(name: string, shown: (translations: Translations) => Partial<Shown>) {
  return pageSample(name, ({ translations, token, text }) => ({
    title: translations.t('verify_email.title'),
    content: (
      <VerifyEmailPage
        translations={translations}
        path="/register/steps/x/verify-email"
        csrf={token}
        email={text}
        minutes={5}
        shown={{ isOver: false, notice: 'code_sent', problems: [], changedTo: undefined, ...shown(translations) }}
      />
    ),
  }));
}

function stepOf({ translations, token }: SampleContext) {
  return { translations, path: '/register/steps/x', csrf: token, problems: [] };
}

export const samples = [
  pageSample('register', ({ translations, token, text }) => ({
    title: translations.t('register.title'),
    content: (
      <ChoicePage
        translations={translations}
        clientName={text}
        problems={[]}
        form={{ path: '/register', csrf: token, username: text, serverName: 'example.org' }}
        providers={[{ name: text, brand: 'google', href: '/upstream/authorize/x' }]}
        loginPath="/login"
      />
    ),
  })),
  registerSample('register-password', () => []),
  registerSample('register-password-rejected', everyProblem),
  pageSample('register-closed', ({ translations }) => ({
    title: translations.t('register.closed.title'),
    content: <ClosedPage translations={translations} loginPath="/login" />,
  })),
  pageSample('register-token', (context) => ({
    title: context.translations.t('token.title'),
    content: <TokenPage {...stepOf(context)} />,
  })),
  verifyEmailSample('register-code', () => ({})),
  verifyEmailSample('register-code-rejected', (translations) => ({
    problems: (['invalid', 'invalid_code'] as const).map((problem) => emailCodeProblem(translations, problem)),
  })),
  verifyEmailSample('register-code-over', () => ({ isOver: true })),
  ...['/recover', undefined].map((recoverPath) =>
    pageSample(recoverPath === undefined ? 'email-in-use' : 'email-in-use-recover', ({ translations }) => ({
      title: translations.t('email_in_use.title'),
      content: (
        <EmailInUsePage
          translations={translations}
          loginPath="/login"
          recoverPath={recoverPath}
          registerPath="/register"
        />
      ),
    })),
  ),
  pageSample('homeserver-late', ({ translations }) => ({
    title: translations.t('problem.homeserver_unavailable.title'),
    content: (
      <HomeserverLatePage translations={translations} retryPath="/register/steps/01JD3Q5Z8W2N4K6M7P9R0S1T2V/finish" />
    ),
  })),
  pageSample('requester-banned', ({ translations }) => ({
    title: translations.t('problem.refused.title'),
    content: <RequesterBannedPage translations={translations} loginPath="/login" />,
  })),
  pageSample('display-name', (context) => ({
    title: context.translations.t('display_name.title'),
    content: <DisplayNamePage {...stepOf(context)} username={context.text} displayName={context.text} />,
  })),
  pageSample('username', (context) => ({
    title: context.translations.t('username.lost.title'),
    content: (
      <UsernamePage {...stepOf(context)} lostName={context.text} username={context.text} suggestions={SUGGESTIONS} />
    ),
  })),
];
