import { pageSample, type SampleContext } from '#browser/sample.ts';
import type { CodeKind } from '#domain/login-completion/try-code.ts';
import { CodePage, type CodeProblem, codeProblem } from './code.page.tsx';
import { RecoveryCodesPage, SetupPage } from './setup.page.tsx';

const PROBLEMS = {
  required: { ok: false, reason: 'required' },
  rejected: { ok: false, reason: 'invalid-code' },
  over: { ok: false, reason: 'too-many-attempts' },
  limited: { ok: false, reason: 'rate-limited', retryAfterSeconds: 61 },
  expired: { reason: 'csrf-expired' },
} as const satisfies Readonly<Record<string, CodeProblem>>;

function codePage({ translations, token, text }: SampleContext, kind: CodeKind, problem?: CodeProblem) {
  return (
    <CodePage
      translations={translations}
      kind={kind}
      serviceName={text}
      path={problem?.reason === 'too-many-attempts' ? undefined : '/login/totp?kind=change_password'}
      csrf={token}
      problems={problem === undefined ? [] : [codeProblem(translations, kind, problem)]}
      asksForDevice
      trustDays={30}
      isTrustRequested
      otherPath="/login/recovery-code?kind=change_password"
      passkeyPath="/login/passkey?kind=change_password"
      startAgainPath="/login?kind=change_password"
    />
  );
}

const SHOWN = { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', otpauthUrl: 'otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ' };

export const samples = [
  pageSample('second-factor-setup', ({ translations, token, text }) => ({
    title: translations.t('second_factor.setup.title'),
    content: (
      <SetupPage
        translations={translations}
        path="/login/setup?kind=change_password"
        csrf={token}
        serviceName={text}
        shown={SHOWN}
        problems={[]}
        isOver={false}
        startAgainPath="/login?kind=change_password"
      />
    ),
  })),
  pageSample('second-factor-recovery-codes', ({ translations, token }) => ({
    title: translations.t('second_factor.codes.title'),
    content: (
      <RecoveryCodesPage
        translations={translations}
        path="/login/setup?kind=change_password"
        csrf={token}
        codes={['abcde-fgh23', 'mnpqr-stu45']}
        problems={[]}
      />
    ),
  })),
  pageSample('second-factor-totp', (context) => ({
    title: context.translations.t('second_factor.title'),
    content: codePage(context, 'totp'),
  })),
  pageSample('second-factor-recovery-code', (context) => ({
    title: context.translations.t('second_factor.title'),
    content: codePage(context, 'recovery_code'),
  })),
  ...Object.entries(PROBLEMS).map(([name, problem]) =>
    pageSample(`second-factor-${name}`, (context) => ({
      title: context.translations.t('second_factor.title'),
      isRejected: true,
      content: codePage(context, 'totp', problem),
    })),
  ),
];
