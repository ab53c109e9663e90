import type { VNode } from 'preact';
import type { PageDeps } from '#browser/browser.ts';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import { bindGrant } from '#browser/grants-cookie.ts';
import type { Translations } from '#browser/i18n/translations.ts';
import type { EnteredCode, UserCodes } from '#domain/authorizations/user-codes.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { formatUserCode, parseUserCode } from '#protocol/oauth/user-code.ts';

type LinkDeps = PageDeps & { readonly userCodes: UserCodes };

/** Why the form is shown a second time. */
export type LinkProblem =
  | Exclude<EnteredCode, { readonly ok: true }>
  | { readonly reason: 'required' | 'csrf-expired' };

/**
 * `GET /link`: asks for the code. A code in the URL is filled in, but looked up only when the user submits the form.
 */
export async function showLink(deps: LinkDeps, context: RequestContext): Promise<HttpResponse> {
  await deps.viewers.read(context);
  const given = deps.config.oauth.deviceCodeUserCodeAutoFillEnabled ? context.query.get('code') : undefined;
  return showForm(deps, context, given);
}

/** `POST /link`: finds the device for the code. Does not require a signed-in user. */
export async function submitLink(deps: LinkDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  await deps.viewers.read(context);
  const typed = form.get('code') ?? '';
  if (isExpired) return showForm(deps, context, typed, { reason: 'csrf-expired' });
  if (typed.trim() === '') return showForm(deps, context, undefined, { reason: 'required' });
  const entered = await deps.userCodes.enter(typed, context.clientAddress);
  if (!entered.ok) return showForm(deps, context, typed, entered);
  bindGrant(context, entered.id, deps.clock.now());
  return redirect(deps.urls.device(entered.id));
}

/** @param typed value of the field, if it looks like a code */
function showForm(
  deps: LinkDeps,
  context: RequestContext,
  typed: string | undefined,
  problem?: LinkProblem,
): HttpResponse {
  const translations = deps.pages.language(context);
  const code = typed === undefined ? undefined : parseUserCode(typed);
  return deps.pages.answer({
    title: translations.t('link.title'),
    translations,
    isRejected: problem !== undefined,
    languageLinks: deps.pages.languageLinks((language) => `${deps.urls.link()}?ui_locales=${language}`),
    content: (
      <LinkPage
        translations={translations}
        path={deps.urls.link()}
        csrf={deps.csrf.field(context)}
        code={code === undefined ? undefined : formatUserCode(code)}
        problems={problem === undefined ? [] : [linkProblem(translations, problem)]}
      />
    ),
  });
}

/** Returns the problem as text, with the codes of browser-flows 9.2. */
export function linkProblem(translations: Translations, problem: LinkProblem): FormProblem {
  switch (problem.reason) {
    case 'required':
      return { code: 'required', field: 'code', message: translations.t('link.required') };
    case 'invalid-code':
      return { code: 'invalid_code', field: 'code', message: translations.t('link.invalid_code') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: translations.t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'csrf-expired':
      return { code: 'csrf_expired', message: translations.t('form.csrf_expired') };
  }
}

/** Asks for the code that a device displays. */
export function LinkPage({
  translations,
  path,
  csrf,
  code,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  /** Initial value of the field. */
  code: string | undefined;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('link.title')}>{translations.t('link.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="code"
          isFirst
          label={translations.t('link.code')}
          autocomplete="off"
          isCode
          value={code}
          maxLength={32}
          hint={translations.t('link.hint')}
          problems={problems}
        />
        <Button>{translations.t('link.button')}</Button>
      </Form>
    </>
  );
}
