import type { VNode } from 'preact';
import { captchaProblem, readCaptchaResponse, type ShownCaptcha, shownCaptcha } from '#browser/captcha.ts';
import { Button } from '#browser/components/buttons.tsx';
import { CaptchaField } from '#browser/components/captcha-field.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem } from '#browser/components/form.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import { emailProblem } from '#browser/email-problems.ts';
import { commonRefusalProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { bindRecovery } from '#browser/recoveries-cookie.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import { type StartRecoveryOutcome, startRecovery } from '#domain/account-changes/start-recovery.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { type RecoveryDeps, respondElsewhere, showClosed } from './recovery-deps.tsx';

/** `GET /recover`. */
export async function showRecover(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const elsewhere = await respondElsewhere(deps, context);
  if (elsewhere !== undefined) return elsewhere;
  return await showForm(deps, context, deps.pages.language(context), '', []);
}

/** `POST /recover`: the same response for every address, whether or not an account has it. */
export async function submitRecover(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  if (!isRecoveryOpen(deps.config)) return showClosed(deps, context);
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const elsewhere = await respondElsewhere(deps, context);
  if (elsewhere !== undefined) return elsewhere;
  const translations = deps.pages.language(context);
  const email = form.get('email') ?? '';
  const reject = async (problem: FormProblem): Promise<HttpResponse> =>
    await showForm(deps, context, translations, email, [problem]);
  if (isExpired) return await reject(commonRefusalProblem(translations, { reason: 'csrf-expired' }));

  const { clientAddress: address, userAgent } = context;
  const captcha = readCaptchaResponse(form);
  const outcome = await startRecovery(deps, { email, captcha, locale: translations.language, address, userAgent });
  if (!outcome.ok) return await reject(problemOf(translations, outcome));
  bindRecovery(context, outcome.id, deps.sessionTtlSeconds, deps.clock.now());
  return redirect(deps.urls.recoveryProgress(outcome.id));
}

function problemOf(
  translations: Translations,
  outcome: Exclude<StartRecoveryOutcome, { readonly ok: true }>,
): FormProblem {
  switch (outcome.reason) {
    case 'invalid':
      return { code: 'invalid', field: 'email', message: translations.t('recover.email_invalid') };
    case 'unreachable':
      return emailProblem(translations, 'email-unreachable');
    case 'captcha-unsolved':
    case 'captcha-unavailable':
      return captchaProblem(translations, outcome.reason);
    case 'rate-limited':
      return commonRefusalProblem(translations, outcome);
  }
}

async function showForm(
  deps: RecoveryDeps,
  context: RequestContext,
  translations: Translations,
  email: string,
  problems: readonly FormProblem[],
): Promise<HttpResponse> {
  const { csrf, pages, urls } = deps;
  const captcha = await shownCaptcha(deps, 'recover', context.clientAddress, translations);
  return pages.answer({
    title: translations.t('recover.title'),
    translations,
    isRejected: problems.length > 0,
    captcha: captcha?.widget,
    languageLinks: pages.languageLinks((language) => urls.recover([['ui_locales', language]])),
    content: (
      <RecoverPage
        translations={translations}
        loginPath={urls.login()}
        form={{ path: urls.recover(), csrf: csrf.field(context), email, captcha, problems }}
      />
    ),
  });
}

/** Asks for the email address that receives the link. */
export function RecoverPage({
  translations,
  loginPath,
  form,
}: {
  translations: Translations;
  loginPath: string;
  form: {
    readonly path: string;
    readonly csrf: string;
    /** The previously entered value. */
    readonly email: string;
    /** Undefined if no CAPTCHA is required. */
    readonly captcha: ShownCaptcha | undefined;
    readonly problems: readonly FormProblem[];
  };
}): VNode {
  const { captcha, problems } = form;
  return (
    <>
      <Heading title={translations.t('recover.title')}>{translations.t('recover.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={form.path} csrf={form.csrf}>
        <TextField
          name="email"
          isFirst
          label={translations.t('recover.email')}
          autocomplete="email"
          keyboard="email"
          value={form.email}
          problems={problems}
        />
        {captcha !== undefined && <CaptchaField translations={translations} captcha={captcha} />}
        <Button>{translations.t('recover.button')}</Button>
      </Form>
      <Alternative>
        {translations.rich('recover.sign_in', {
          link: <a href={loginPath}>{translations.t('recover.sign_in_link')}</a>,
        })}
      </Alternative>
    </>
  );
}
