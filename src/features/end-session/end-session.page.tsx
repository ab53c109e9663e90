import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { Form, HiddenFields } from '#browser/components/form.tsx';
import { ClientName, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { LOGOUT_REQUEST_FIELD } from '#browser/logout-request.ts';
import type { User } from '#domain/records/user.ts';

/** Asks whether a client may sign the user out. */
export function ConfirmPage({
  translations,
  serviceName,
  clientName,
  user,
  logoutPath,
  csrf,
  logoutRequest,
  stayPath,
}: {
  translations: Translations;
  serviceName: string;
  /** Undefined if the request does not identify the client. */
  clientName: string | undefined;
  user: User;
  logoutPath: string;
  csrf: string;
  /** The sealed request. */
  logoutRequest: string;
  stayPath: string;
}): VNode {
  const service = <bdi>{serviceName}</bdi>;
  return (
    <>
      <Heading title={translations.t('end_session.title')}>
        {clientName === undefined
          ? translations.rich('end_session.text', { service })
          : translations.rich('end_session.text_client', { service, client: <ClientName name={clientName} /> })}
      </Heading>
      <AccountCard displayName={user.displayName} identifier={user.username} />
      <Form action={logoutPath} csrf={csrf}>
        <HiddenFields fields={[[LOGOUT_REQUEST_FIELD, logoutRequest]]} />
        <Button>{translations.t('logout.button')}</Button>
        <LinkButton href={stayPath}>{translations.t('end_session.stay')}</LinkButton>
      </Form>
    </>
  );
}

/** Confirms that the user is signed out. If the client asked for a redirect, the user decides whether to follow it. */
export function SignedOutPage({
  translations,
  loginPath,
  onward,
}: {
  translations: Translations;
  loginPath: string;
  onward: { readonly href: string; readonly host: string } | undefined;
}): VNode {
  return (
    <>
      <Heading title={translations.t('end_session.done.title')}>{translations.t('end_session.done.text')}</Heading>
      {onward !== undefined && (
        <LinkButton href={onward.href}>
          <span>{translations.rich('leaving.continue', { host: <bdi>{onward.host}</bdi> })}</span>
        </LinkButton>
      )}
      <LinkButton href={loginPath}>{translations.t('index.sign_in')}</LinkButton>
    </>
  );
}
