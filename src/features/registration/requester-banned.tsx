import type { VNode } from 'preact';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { findDestination } from '#domain/authorizations/destination.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationDeps } from './step.ts';

/**
 * 403 instead of an account: the operator bans registration from this address or client, whichever form it came from.
 */
export async function showRequesterBanned(
  deps: RegistrationDeps,
  context: RequestContext,
  action: PostAuthAction | undefined,
): Promise<HttpResponse> {
  const { pages, urls } = deps;
  const destination = await findDestination(deps, action);
  const translations = pages.language(context, destination?.uiLocales);
  return pages.answer({
    status: 403,
    title: translations.t('problem.refused.title'),
    translations,
    content: <RequesterBannedPage translations={translations} loginPath={urls.login(action)} />,
  });
}

/** Users with an account may still sign in. */
export function RequesterBannedPage({
  translations,
  loginPath,
}: {
  translations: Translations;
  loginPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('problem.refused.title')} />
      <p data-error-code="requester-banned">{translations.t('register.requester_banned')}</p>
      <LinkButton kind="primary" href={loginPath}>
        {translations.t('recover.sign_in_link')}
      </LinkButton>
    </>
  );
}
