/** Pages for a request that is over: its answer is posted to the client, under way, or came too late. */
import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { HiddenFields } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

/** How a person gets back to the client that is still waiting: a link, or for form_post a form. */
export type WayBack =
  | { readonly kind: 'link'; readonly href: string }
  | { readonly kind: 'form'; readonly action: string; readonly fields: readonly (readonly [string, string])[] };

/** The request waited too long. */
export function ExpiredPage({
  translations,
  wayBack,
}: {
  translations: Translations;
  /** Undefined: the client's address is not trusted any more. */
  wayBack: WayBack | undefined;
}): VNode {
  return (
    <>
      <Heading title={translations.t('problem.expired.title')} />
      <p data-error-code="expired">{translations.t('problem.expired.text')}</p>
      {wayBack?.kind === 'link' && (
        <LinkButton kind="primary" href={wayBack.href}>
          {translations.t('consent.back')}
        </LinkButton>
      )}
      {wayBack?.kind === 'form' && (
        <form class="form" method="post" action={wayBack.action}>
          <HiddenFields fields={wayBack.fields} />
          <Button>{translations.t('consent.back')}</Button>
        </form>
      )}
    </>
  );
}

/** The request of a client that anyone may have registered was refused: the person decides whether to go there. */
export function LeavingPage({
  translations,
  host,
  error,
  wayBack,
  homePath,
}: {
  translations: Translations;
  /** Where the client is. */
  host: string;
  /** For the developer of the client. */
  error: string;
  wayBack: WayBack;
  homePath: string;
}): VNode {
  const site = <bdi class="name">{host}</bdi>;
  const label = <span>{translations.rich('leaving.continue', { host: <bdi>{host}</bdi> })}</span>;
  return (
    <>
      <Heading title={translations.t('leaving.title')}>{translations.rich('leaving.text', { host: site })}</Heading>
      <p data-error-code={error}>{translations.t('leaving.advice')}</p>
      {wayBack.kind === 'link' ? (
        <LinkButton href={wayBack.href}>{label}</LinkButton>
      ) : (
        <form class="form" method="post" action={wayBack.action}>
          <HiddenFields fields={wayBack.fields} />
          <Button kind="quiet">{label}</Button>
        </form>
      )}
      <LinkButton href={homePath} kind="primary">
        {translations.t('problem.way.home')}
      </LinkButton>
    </>
  );
}

/** The button was pressed twice: the answer to the first press is under way. */
export function OpeningPage({ translations }: { translations: Translations }): VNode {
  return (
    <>
      <Heading title={translations.t('consent.opening.title')} />
      <p data-error-code="already_used">{translations.t('consent.opening.text')}</p>
    </>
  );
}

/**
 * A form that carries the response to the client; the pages' script sends it at once, a button does without scripts.
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
