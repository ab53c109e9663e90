import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { ActionFields, ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { Heading, ProviderName } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { User } from '#domain/records/user.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

/** Repeats a provider's POST with this service's cookies. */
export function RepostPage({
  translations,
  path,
  fields,
}: {
  translations: Translations;
  path: string;
  fields: readonly (readonly [name: string, value: string])[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('upstream.repost.title')}>{translations.t('upstream.repost.text')}</Heading>
      <form class="form" method="post" action={path} data-submit-at-once>
        <HiddenFields fields={fields} />
        <Button>{translations.t('upstream.repost.button')}</Button>
      </form>
    </>
  );
}

interface LinkPageProps {
  readonly translations: Translations;
  readonly csrf: string;
  /** Name of the provider for users. */
  readonly provider: string;
  readonly problems: readonly FormProblem[];
}

/** Signs in the user that the provider named. The form is submitted at once, unless there is a problem. */
export function ContinuePage({
  translations,
  csrf,
  provider,
  problems,
  path,
  user,
}: LinkPageProps & { readonly path: string; readonly user: User }): VNode {
  return (
    <>
      <Heading title={translations.t('upstream.continue.title', { user: user.username })}>
        {translations.rich('upstream.continue.text', { provider: <ProviderName name={provider} /> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <AccountCard displayName={user.displayName} identifier={user.username} />
      <Form action={path} csrf={csrf} isSentAtOnce={problems.length === 0}>
        <HiddenFields fields={[['action', 'login']]} />
        <Button>{translations.t('upstream.continue.button')}</Button>
      </Form>
    </>
  );
}

/** Says that the user has no account here, and cannot create one. */
export function NoAccountPage({
  translations,
  provider,
  problems,
  linkPath,
  loginPath,
}: Omit<LinkPageProps, 'csrf'> & {
  /** Path of the sign-in page for linking an account. Undefined if linking is not allowed. */
  readonly linkPath: string | undefined;
  readonly loginPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('upstream.no_account.title')}>
        {translations.rich('upstream.no_account.text', { provider: <ProviderName name={provider} /> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {linkPath !== undefined && (
        <LinkButton kind="primary" href={linkPath}>
          {translations.t('upstream.no_account.link')}
        </LinkButton>
      )}
      <LinkButton kind={linkPath === undefined ? 'primary' : 'quiet'} href={loginPath}>
        {translations.t('upstream.no_account.other')}
      </LinkButton>
    </>
  );
}

/** Asks the signed-in user whether the account at the provider is theirs. */
export function LinkPage({
  translations,
  csrf,
  provider,
  problems,
  viewer,
  path,
  logoutPath,
  action,
  stayHref,
  isAllowed,
}: LinkPageProps & {
  readonly viewer: User;
  /** Target of the form. */
  readonly path: string;
  readonly logoutPath: string;
  readonly action: PostAuthAction;
  /** Where the user continues without linking. */
  readonly stayHref: string;
  readonly isAllowed: boolean;
}): VNode {
  return (
    <>
      <Heading title={translations.t(isAllowed ? 'upstream.link.title' : 'upstream.link.off_title')}>
        {translations.rich(isAllowed ? 'upstream.link.text' : 'upstream.link.off', {
          provider: <ProviderName name={provider} />,
        })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <AccountCard displayName={viewer.displayName} identifier={viewer.username}>
        <Form action={logoutPath} csrf={csrf} isInline>
          <ActionFields action={action} />
          <Button kind="quiet">{translations.t('session.other_account')}</Button>
        </Form>
      </AccountCard>
      {isAllowed && (
        <Form action={path} csrf={csrf}>
          <HiddenFields fields={[['action', 'link']]} />
          <Button>{translations.t('upstream.link.button')}</Button>
        </Form>
      )}
      <LinkButton kind={isAllowed ? 'quiet' : 'primary'} href={stayHref}>
        {translations.t(isAllowed ? 'upstream.link.not' : 'upstream.continue.button')}
      </LinkButton>
    </>
  );
}

/**
 * The identity belongs to another account. Signing out leads back here, or the user continues with the current account.
 */
export function MismatchPage({
  translations,
  csrf,
  provider,
  problems,
  viewer,
  logoutPath,
  action,
  stayHref,
}: LinkPageProps & {
  readonly viewer: User;
  readonly logoutPath: string;
  readonly action: PostAuthAction;
  readonly stayHref: string;
}): VNode {
  const user = <bdi class="name">{viewer.username}</bdi>;
  return (
    <>
      <Heading title={translations.t('upstream.mismatch.title')}>
        {translations.rich('upstream.mismatch.text', { provider: <ProviderName name={provider} />, user })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={logoutPath} csrf={csrf}>
        <ActionFields action={action} />
        <Button>{translations.t('session.other_account')}</Button>
      </Form>
      <LinkButton kind="quiet" href={stayHref}>
        <span>{translations.rich('upstream.mismatch.stay', { user })}</span>
      </LinkButton>
    </>
  );
}
