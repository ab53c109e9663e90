import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { ErrorSummary, Form, type FormProblem } from '#browser/components/form.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import { type CommonRefusal, commonRefusalProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import { type NoticeCode, NoticeLine } from '#browser/notices.tsx';
import { boundRecovery } from '#browser/recoveries-cookie.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import {
  findRecoverySession,
  type RecoverySession,
  recoverySessionState,
} from '#domain/account-changes/recovery-session.ts';
import { resendRecovery } from '#domain/account-changes/start-recovery.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, redirect, responseFor } from '#platform/http/response.ts';
import { type RecoveryDeps, respondElsewhere, showClosed, showMessage } from './recovery-deps.tsx';

/** `GET /recover/progress/{session_id}`. */
export async function showProgress(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const opened = await openSession(deps, context);
  return opened.ok ? showWaiting(deps, context, opened.session) : opened.response;
}

/** `POST /recover/progress/{session_id}`: sends another email to the same address. */
export async function submitResend(deps: RecoveryDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  if (!isRecoveryOpen(deps.config)) return showClosed(deps, context);
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const opened = await openSession(deps, context);
  if (!opened.ok) return opened.response;
  const { session } = opened;
  if (isExpired) return showWaiting(deps, context, session, { reason: 'csrf-expired' });
  const sent = await resendRecovery(deps, session, context.clientAddress);
  if (!sent.ok) return showWaiting(deps, context, session, { ...sent, reason: 'rate-limited' });
  return redirect(deps.urls.recoveryProgress(session.id, [deps.notices.field('email_sent')]));
}

/** Returns the open recovery that the URL names, or the response that replaces it. */
async function openSession(
  deps: RecoveryDeps,
  context: RequestContext,
): Promise<{ readonly ok: true; readonly session: RecoverySession } | Responded> {
  const elsewhere = await respondElsewhere(deps, context);
  if (elsewhere !== undefined) return responseFor(elsewhere);
  const id = boundRecovery(context, context.params['session_id']);
  const session = id === undefined ? undefined : await findRecoverySession(deps.database, id);
  // The same response for an unknown ID and for a recovery of another browser.
  if (session === undefined) return responseFor(redirect(deps.urls.recover()));
  switch (recoverySessionState(session, deps.sessionTtlSeconds, deps.clock.now())) {
    case 'open':
      return { ok: true, session };
    case 'consumed':
      return responseFor(
        showMessage(deps, context, {
          title: 'recover.consumed.title',
          text: 'recover.consumed.text',
          link: { text: 'recover.sign_in_link', href: deps.urls.login() },
          languageLinks: languageLinks(deps, session),
        }),
      );
    case 'expired':
      return responseFor(
        showMessage(deps, context, {
          title: 'recover.expired.title',
          text: 'recover.expired.text',
          link: { text: 'recover.start_over', href: deps.urls.recover() },
          languageLinks: languageLinks(deps, session),
        }),
      );
  }
}

function languageLinks({ pages, urls }: RecoveryDeps, session: RecoverySession) {
  return pages.languageLinks((language) => urls.recoveryProgress(session.id, [['ui_locales', language]]));
}

function showWaiting(
  deps: RecoveryDeps,
  context: RequestContext,
  session: RecoverySession,
  refusal?: CommonRefusal,
): HttpResponse {
  const { csrf, notices, pages, urls } = deps;
  const translations = pages.language(context);
  return pages.answer({
    title: translations.t('recover.progress.title'),
    translations,
    isRejected: refusal !== undefined,
    languageLinks: languageLinks(deps, session),
    content: (
      <ProgressPage
        translations={translations}
        email={session.email}
        minutes={Math.round(deps.ticketTtlSeconds / 60)}
        notice={refusal === undefined ? notices.read(context) : undefined}
        form={{
          path: urls.recoveryProgress(session.id),
          csrf: csrf.field(context),
          problems: refusal === undefined ? [] : [commonRefusalProblem(translations, refusal)],
        }}
        recoverPath={urls.recover()}
      />
    ),
  });
}

/** Says where to look for the email, whether or not one was sent. */
export function ProgressPage({
  translations,
  email,
  minutes,
  notice,
  form,
  recoverPath,
}: {
  translations: Translations;
  /** As entered by the user. */
  email: string;
  /** Lifetime of the link. */
  minutes: number;
  notice: NoticeCode | undefined;
  form: { readonly path: string; readonly csrf: string; readonly problems: readonly FormProblem[] };
  recoverPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('recover.progress.title')}>
        {translations.rich('recover.progress.text', { email: <bdi class="name">{email}</bdi> })}
      </Heading>
      <NoticeLine translations={translations} code={notice} />
      <ErrorSummary translations={translations} problems={form.problems} />
      <p>{translations.t('recover.progress.hint', { minutes })}</p>
      <Form action={form.path} csrf={form.csrf}>
        <Button kind="secondary">{translations.t('recover.progress.resend')}</Button>
      </Form>
      <Alternative>
        <a href={recoverPath}>{translations.t('recover.progress.other')}</a>
      </Alternative>
    </>
  );
}
