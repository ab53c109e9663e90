import type { VNode } from 'preact';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { Button } from './components/buttons.tsx';
import { AccountCard } from './components/decision.tsx';
import { ActionFields, Form } from './components/form.tsx';
import { Heading } from './components/text.tsx';
import type { MessageKey, Translations } from './i18n/translations.ts';

/** Why a session no longer works: it was ended elsewhere, or its account is locked or deactivated. */
export type DeadSessionKind = 'ended' | 'locked' | 'deactivated';

const TITLES: Record<DeadSessionKind, MessageKey> = {
  ended: 'session.ended.title',
  locked: 'session.locked.title',
  deactivated: 'session.deactivated.title',
};
const TEXTS: Record<DeadSessionKind, MessageKey> = {
  ended: 'session.ended.text',
  locked: 'session.locked.text',
  deactivated: 'session.deactivated.text',
};
const BUTTONS: Record<DeadSessionKind, MessageKey> = {
  ended: 'session.ended.button',
  locked: 'session.other_account',
  deactivated: 'session.other_account',
};

/** Returns the step shown in the document's title. */
export function deadSessionTitle(translations: Translations, kind: DeadSessionKind): string {
  return translations.t(TITLES[kind]);
}

/**
 * The page that replaces any other if the session is dead (browser-flows 2.5), or after the correct password for a
 * locked or deactivated account (browser-flows 3.2.4). Its button signs out and continues to the sign-in page.
 */
export function DeadSessionPage({
  translations,
  kind,
  username,
  logoutPath,
  csrf,
  action,
}: {
  translations: Translations;
  kind: DeadSessionKind;
  username: string;
  logoutPath: string;
  csrf: string;
  action: PostAuthAction | undefined;
}): VNode {
  return (
    <>
      <Heading title={deadSessionTitle(translations, kind)} />
      <AccountCard displayName={undefined} identifier={username} />
      <p>{translations.t(TEXTS[kind])}</p>
      <Form action={logoutPath} csrf={csrf}>
        <ActionFields action={action} />
        <Button>{translations.t(BUTTONS[kind])}</Button>
      </Form>
    </>
  );
}
