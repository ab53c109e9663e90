import type { VNode } from 'preact';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationDeps } from './step.ts';

/**
 * Shown instead of creating an account if another account has the address. The user has verified the address, so the
 * page may say so.
 */
export function showEmailInUse(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): HttpResponse {
  const { pages, urls } = deps;
  const translations = pages.language(context);
  return pages.answer({
    title: translations.t('email_in_use.title'),
    translations,
    content: (
      <EmailInUsePage
        translations={translations}
        loginPath={urls.login(action)}
        recoverPath={isRecoveryOpen(deps.config) ? urls.recover() : undefined}
        registerPath={urls.register(action)}
      />
    ),
  });
}

export function EmailInUsePage({
  translations,
  loginPath,
  recoverPath,
  registerPath,
}: {
  translations: Translations;
  loginPath: string;
  /** Undefined if password recovery is not available. */
  recoverPath: string | undefined;
  registerPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('email_in_use.title')} />
      <p data-state="email_in_use">
        {translations.t(recoverPath === undefined ? 'email_in_use.text_without_recovery' : 'email_in_use.text')}
      </p>
      <LinkButton kind="primary" href={loginPath}>
        {translations.t('recover.sign_in_link')}
      </LinkButton>
      {recoverPath !== undefined && <LinkButton href={recoverPath}>{translations.t('login.recover')}</LinkButton>}
      <Alternative>
        <a href={registerPath}>{translations.t('email_in_use.other')}</a>
      </Alternative>
    </>
  );
}
