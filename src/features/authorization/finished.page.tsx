/** Pages for a finished request: its response is posted to the client, already sent, or too late. */
import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { HiddenFields } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

/** How the user returns to the waiting client: by a link, or by a form for form_post. */
export type ReturnToClient =
  | { readonly kind: 'link'; readonly href: string }
  | { readonly kind: 'form'; readonly action: string; readonly fields: readonly (readonly [string, string])[] };

/** The request expired. */
export function ExpiredPage({
  translations,
  returnToClient,
}: {
  translations: Translations;
  /** Undefined if the client's redirect URI is no longer trusted. */
  returnToClient: ReturnToClient | undefined;
}): VNode {
  return (
    <>
      <Heading title={translations.t('problem.expired.title')} />
      <p data-error-code="expired">{translations.t('problem.expired.text')}</p>
      {returnToClient?.kind === 'link' && (
        <LinkButton kind="primary" href={returnToClient.href}>
          {translations.t('consent.back')}
        </LinkButton>
      )}
      {returnToClient?.kind === 'form' && (
        <form class="form" method="post" action={returnToClient.action}>
          <HiddenFields fields={returnToClient.fields} />
          <Button>{translations.t('consent.back')}</Button>
        </form>
      )}
    </>
  );
}

/**
 * A dynamically registered client's request was rejected. Anyone can register such a client, so the user decides
 * whether to return to it.
 */
export function LeavingPage({
  translations,
  host,
  error,
  returnToClient,
  homePath,
}: {
  translations: Translations;
  /** Host of the client. */
  host: string;
  /** For the developer of the client. */
  error: string;
  returnToClient: ReturnToClient;
  homePath: string;
}): VNode {
  const site = <bdi class="name">{host}</bdi>;
  const label = <span>{translations.rich('leaving.continue', { host: <bdi>{host}</bdi> })}</span>;
  return (
    <>
      <Heading title={translations.t('leaving.title')}>{translations.rich('leaving.text', { host: site })}</Heading>
      <p data-error-code={error}>{translations.t('leaving.advice')}</p>
      {returnToClient.kind === 'link' ? (
        <LinkButton href={returnToClient.href}>{label}</LinkButton>
      ) : (
        <form class="form" method="post" action={returnToClient.action}>
          <HiddenFields fields={returnToClient.fields} />
          <Button kind="quiet">{label}</Button>
        </form>
      )}
      <LinkButton href={homePath} kind="primary">
        {translations.t('problem.way.home')}
      </LinkButton>
    </>
  );
}

/** The user pressed the button twice. The response to the first press is on its way. */
export function OpeningPage({ translations }: { translations: Translations }): VNode {
  return (
    <>
      <Heading title={translations.t('consent.opening.title')} />
      <p data-error-code="already_used">{translations.t('consent.opening.text')}</p>
    </>
  );
}

/**
 * A form that carries the response to the client. The page's script submits it at once. Without scripts, the user
 * presses a button.
 * @see OAuth 2.0 Form Post Response Mode 2
 */
export function FormPostPage({
  translations,
  redirectUri,
  fields,
}: {
  translations: Translations;
  redirectUri: string;
  fields: readonly (readonly [name: string, value: string])[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('form_post.title')}>{translations.t('form_post.text')}</Heading>
      <form class="form" method="post" action={redirectUri} data-submit-at-once>
        <HiddenFields fields={fields} />
        <Button>{translations.t('form_post.button')}</Button>
      </form>
    </>
  );
}
