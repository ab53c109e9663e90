import { pageSample, SAMPLE_ACTION, type SampleContext, sampleCaptcha, sampleUser } from '#browser/sample.ts';
import { LoginPage, type LoginProblem, loginProblems } from './login.page.tsx';
import { PasskeyPage, type PasskeyProblem, passkeyProblem } from './passkey.page.tsx';
import { PasskeyOfferPage, passkeyOfferProblem } from './passkey-offer.page.tsx';
import { SignedInPage } from './signed-in.page.tsx';

const PROBLEMS = {
  required: { ok: false, reason: 'required', fields: ['username', 'password'] },
  rejected: { ok: false, reason: 'invalid-credentials' },
  limited: { ok: false, reason: 'rate-limited', retryAfterSeconds: 61 },
  expired: { reason: 'csrf-expired' },
  passkey: { reason: 'passkey-failed' },
  'too-long': { reason: 'too-long' },
  overloaded: { ok: false, reason: 'overloaded', retryAfterSeconds: 5 },
} as const satisfies Readonly<Record<string, LoginProblem>>;

function samplePasskey(csrf: string) {
  return { path: '/login/passkey?kind=change_password', optionsPath: '/login/passkey/options?purpose=login', csrf };
}

function passkeyPage({ translations, token, text }: SampleContext, problem?: PasskeyProblem) {
  return (
    <PasskeyPage
      translations={translations}
      serviceName={text}
      passkey={samplePasskey(token)}
      problems={problem === undefined ? [] : [passkeyProblem(translations, problem)]}
      totpPath="/login/totp?kind=change_password"
      startAgainPath="/login?kind=change_password"
    />
  );
}

function loginPage({ translations, token, text }: SampleContext, problem?: LoginProblem) {
  return (
    <LoginPage
      translations={translations}
      serviceName={text}
      clientName={text}
      message={text}
      notice="password_recovered"
      form={{
        path: '/login?kind=change_password',
        csrf: token,
        username: text,
        problems: problem === undefined ? [] : loginProblems(translations, problem, { acceptsEmail: true }),
        acceptsEmail: true,
        asksForDevice: true,
        captcha: sampleCaptcha(text),
      }}
      passkey={samplePasskey(token)}
      recoverPath="/recover"
      providers={[{ name: text, brand: 'github', href: '/upstream/authorize/x' }]}
      linkedProvider={text}
      registerPath="/register"
    />
  );
}

function offerPage({ translations, token, text }: SampleContext, isRejected: boolean) {
  return {
    title: translations.t('passkey_offer.title'),
    hasNewPasskey: true,
    isRejected,
    content: (
      <PasskeyOfferPage
        translations={translations}
        path="/login/add-passkey?kind=change_password"
        optionsPath="/login/add-passkey/options"
        csrf={token}
        account={{ displayName: text, identifier: text }}
        problems={isRejected ? [passkeyOfferProblem(translations, 'passkey_failed')] : []}
      />
    ),
  };
}

export const samples = [
  pageSample('login-signed-in', ({ translations, token, text }) => ({
    title: translations.t('login.signed_in.title'),
    content: (
      <SignedInPage
        translations={translations}
        csrf={token}
        user={sampleUser(text)}
        action={SAMPLE_ACTION}
        logoutPath="/logout"
        stayHref="/account/"
      />
    ),
  })),
  pageSample('login', (context) => ({
    title: context.translations.t('login.title'),
    captcha: sampleCaptcha(context.text).widget,
    content: loginPage(context),
  })),
  pageSample('login-closed', ({ translations, text }) => ({
    title: translations.t('login.title'),
    content: (
      <LoginPage
        translations={translations}
        serviceName={text}
        clientName={undefined}
        message={undefined}
        notice={undefined}
        form={undefined}
        passkey={undefined}
        recoverPath={undefined}
        providers={[]}
        linkedProvider={undefined}
        registerPath={undefined}
      />
    ),
  })),
  pageSample('second-factor-passkey', (context) => ({
    title: context.translations.t('second_factor.title'),
    content: passkeyPage(context),
  })),
  pageSample('passkey-offer', (context) => offerPage(context, false)),
  pageSample('second-factor-passkey-failed', (context) => ({
    title: context.translations.t('second_factor.title'),
    isRejected: true,
    content: passkeyPage(context, { reason: 'passkey-failed' }),
  })),
  pageSample('passkey-offer-failed', (context) => offerPage(context, true)),
  ...Object.entries(PROBLEMS).map(([name, problem]) =>
    pageSample(`login-${name}`, (context) => ({
      title: context.translations.t('login.title'),
      isRejected: true,
      content: loginPage(context, problem),
    })),
  ),
];
