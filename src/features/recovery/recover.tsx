import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem } from '#browser/components/form.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import { commonRefusalProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { bindRecovery } from '#browser/recoveries-cookie.ts';
import { startRecovery } from '#domain/recoveries/start-recovery.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { answerElsewhere, type RecoveryDeps, showClosed } from './recovery-deps.tsx';

/** `GET /recover`. */
export async function showRecover(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const elsewhere = await answerElsewhere(deps, context);
  if (elsewhere !== undefined) return elsewhere;
  return showForm(deps, context, deps.pages.language(context), '', []);
}

/** `POST /recover`: the same answer for every address, no matter who has it. */
export async function submitRecover(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  if (!deps.isRecoveryOpen) return showClosed(deps, context);
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const elsewhere = await answerElsewhere(deps, context);
  if (elsewhere !== undefined) return elsewhere;
  const translations = deps.pages.language(context);
  const email = form.get('email') ?? '';
  const reject = (problem: FormProblem): HttpResponse => showForm(deps, context, translations, email, [problem]);
  if (isExpired) return reject(commonRefusalProblem(translations, { reason: 'csrf-expired' }));

  const { clientAddress: address, userAgent } = context;
  const outcome = await startRecovery(deps, { email, locale: translations.language, address, userAgent });
  if (!outcome.ok && outcome.reason === 'invalid') {
    return reject({ code: 'invalid', field: 'email', message: translations.t('recover.email_invalid') });
  }
  if (!outcome.ok) return reject(commonRefusalProblem(translations, outcome));
  bindRecovery(context, outcome.id, deps.sessionTtlSeconds, deps.clock.now());
  return redirect(deps.urls.recoveryProgress(outcome.id));
}

function showForm(
  deps: RecoveryDeps,
  context: RequestContext,
  translations: Translations,
  email: string,
  problems: readonly FormProblem[],
): HttpResponse {
  const { csrf, pages, urls } = deps;
  return pages.answer({
    title: translations.t('recover.title'),
    translations,
    isRejected: problems.length > 0,
    languageLinks: pages.languageLinks((language) => urls.recover([['ui_locales', language]])),
    content: (
      <RecoverPage
        translations={translations}
        loginPath={urls.login()}
        form={{ path: urls.recover(), csrf: csrf.field(context), email, problems }}
      />
    ),
  });
}

/** Asks for the address that the link goes to. */
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
    /** What was typed before. */
    readonly email: string;
    readonly problems: readonly FormProblem[];
  };
}): VNode {
  const { problems } = form;
  return (
    <>
      <Heading title={translations.t('recover.title')}>{translations.t('recover.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={form.path} csrf={form.csrf}>
        <TextField
          name="email"
          label={translations.t('recover.email')}
          autocomplete="email"
          keyboard="email"
          value={form.email}
          problems={problems}
        />
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
