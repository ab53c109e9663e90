import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { type DecidingAccount, DecidingAccountCard, type ShownClient } from '#browser/components/client.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { type Help, PolicyRefusal } from '#browser/components/policy-refusal.tsx';
import { Heading, Notice } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Violation } from '#domain/policy/violations.ts';
import type { SsoTarget } from '#protocol/chat/sso-redirect.ts';

interface CompleteSsoPageProps {
  readonly translations: Translations;
  readonly target: SsoTarget;
  readonly account: DecidingAccount;
  readonly form: {
    readonly path: string;
    readonly csrf: string;
    readonly fields: readonly (readonly [name: string, value: string])[];
  };
  readonly problems: readonly FormProblem[];
}

/**
 * Asks whether to sign a chat client in. An attacker can send a user here with a redirect URL of their own, so the page
 * first shows where the response goes. The user cannot cancel, because the protocol has no response for it.
 */
export function CompleteSsoPage({ translations, target, account, form, problems }: CompleteSsoPageProps): VNode {
  const name = (
    <bdi class="name" dir="ltr">
      {target.name}
    </bdi>
  );
  return (
    <>
      <Heading title={translations.rich('sso.title', { target: name })}>{translations.t('sso.new_session')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {target.isUnprotected && <Notice kind="danger">{translations.t('sso.unprotected')}</Notice>}
      <DecidingAccountCard translations={translations} account={account} csrf={form.csrf} />
      <Notice kind="warning">{translations.t('sso.warning')}</Notice>
      <Form action={form.path} csrf={form.csrf} isSentOnce>
        <HiddenFields fields={form.fields} />
        <Button>{translations.t('consent.continue')}</Button>
      </Form>
    </>
  );
}

/** Explains why this user may not sign the client in, and offers to switch accounts. */
export function SsoForbiddenPage({
  translations,
  client,
  violations,
  account,
  csrf,
  help,
  retryPath,
  sessionsPath,
}: {
  translations: Translations;
  client: ShownClient;
  violations: readonly Violation[];
  account: DecidingAccount;
  csrf: string;
  help: Help;
  /** Where the user continues when the reasons no longer apply. */
  retryPath: string;
  sessionsPath: string;
}): VNode {
  return (
    <>
      <PolicyRefusal
        translations={translations}
        client={client}
        violations={violations}
        help={help}
        retryPath={retryPath}
        sessionsPath={sessionsPath}
      />
      <DecidingAccountCard translations={translations} account={account} csrf={csrf} />
    </>
  );
}
