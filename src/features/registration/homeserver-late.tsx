import type { VNode } from 'preact';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Ulid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { RegistrationDeps } from './step.ts';

/** Shown while the account cannot be created yet. Everything that the user entered is kept, and the user can retry. */
export function showHomeserverLate(
  deps: RegistrationDeps,
  context: RequestContext,
  id: Ulid<'registration'>,
): HttpResponse {
  const { pages, urls } = deps;
  const translations = pages.language(context);
  return pages.answer({
    title: translations.t('problem.homeserver_unavailable.title'),
    translations,
    content: <HomeserverLatePage translations={translations} retryPath={urls.registrationStep(id, 'finish')} />,
  });
}

export function HomeserverLatePage({
  translations,
  retryPath,
}: {
  translations: Translations;
  retryPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('problem.homeserver_unavailable.title')} />
      <p role="alert" data-error-code="homeserver_unavailable">
        {translations.t('problem.homeserver_unavailable.text')}
      </p>
      <LinkButton kind="primary" href={retryPath}>
        {translations.t('problem.way.retry')}
      </LinkButton>
    </>
  );
}
