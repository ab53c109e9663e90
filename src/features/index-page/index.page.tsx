import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { User } from '#domain/records/user.ts';

interface IndexPageProps {
  readonly translations: Translations;
  readonly serviceName: string;
  /** URL of the discovery document. Undefined if the operator hides technical details. */
  readonly discoveryUrl: string | undefined;
}

/** The page for visitors who are not signed in. */
export function VisitorPage({
  loginPath,
  registerPath,
  ...props
}: IndexPageProps & {
  loginPath: string;
  /** Path of the registration page. Undefined if users cannot register. */
  registerPath: string | undefined;
}): VNode {
  return (
    <>
      <IndexHeading {...props}>{props.translations.t('index.about')}</IndexHeading>
      <LinkButton kind="primary" href={loginPath}>
        {props.translations.t('index.sign_in')}
      </LinkButton>
      {registerPath !== undefined && (
        <LinkButton href={registerPath}>{props.translations.t('register.link')}</LinkButton>
      )}
      <TechnicalLine {...props} />
    </>
  );
}

/** The page for signed-in users. */
export function SignedInPage({
  user,
  logoutPath,
  csrf,
  accountPath,
  ...props
}: IndexPageProps & {
  user: User;
  logoutPath: string;
  csrf: string;
  accountPath: string;
}): VNode {
  return (
    <>
      <IndexHeading {...props}>{props.translations.t('index.signed_in')}</IndexHeading>
      <AccountCard displayName={user.displayName} identifier={user.username} />
      <LinkButton kind="primary" href={accountPath}>
        {props.translations.t('account_area.title')}
      </LinkButton>
      <Form action={logoutPath} csrf={csrf}>
        <Button kind="secondary">{props.translations.t('index.sign_out')}</Button>
      </Form>
      <TechnicalLine {...props} />
    </>
  );
}

function IndexHeading({ translations, serviceName, children }: IndexPageProps & { children: string }): VNode {
  return <Heading title={translations.rich('index.title', { service: <bdi>{serviceName}</bdi> })}>{children}</Heading>;
}

function TechnicalLine({ translations, discoveryUrl }: IndexPageProps): VNode | null {
  if (discoveryUrl === undefined) return null;
  return (
    <p class="meta">
      {translations.t('index.discovery')} <a href={discoveryUrl}>{discoveryUrl}</a>
    </p>
  );
}
