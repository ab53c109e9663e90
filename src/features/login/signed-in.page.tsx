import type { VNode } from 'preact';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { ActionFields, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { User } from '#domain/records/user.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

/** Shown if a different user is signed in from the one in another tab's form. */
export function SignedInPage({
  translations,
  csrf,
  user,
  action,
  logoutPath,
  stayHref,
}: {
  translations: Translations;
  csrf: string;
  /** The signed-in user. */
  user: User;
  action: PostAuthAction | undefined;
  logoutPath: string;
  stayHref: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('login.signed_in.title')}>{translations.t('login.signed_in.text')}</Heading>
      <AccountCard displayName={user.displayName} identifier={user.username} />
      <LinkButton kind="primary" href={stayHref}>
        <span>{translations.rich('login.signed_in.stay', { user: <bdi class="name">{user.username}</bdi> })}</span>
      </LinkButton>
      <Form action={logoutPath} csrf={csrf}>
        <ActionFields action={action} />
        <Button kind="quiet">{translations.t('session.other_account')}</Button>
      </Form>
    </>
  );
}
