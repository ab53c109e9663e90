import type { VNode } from 'preact';
import type { BrandingConfig } from '#config/sections/branding.ts';
import type { Violation } from '#domain/policy/violations.ts';
import type { Translations } from '../i18n/translations.ts';
import { LinkButton } from './buttons.tsx';
import type { ShownClient } from './client.tsx';
import { moduleMessage } from './module-message.ts';
import { ScopeList } from './scope-list.tsx';
import { ClientName, cleanName, Heading } from './text.tsx';

/** Where users get help. */
export type Help = Pick<BrandingConfig, 'contact' | 'serviceName'>;

/** Returns the title of the page without markup. */
export function refusalTitle(
  translations: Translations,
  client: ShownClient,
  violations: readonly Violation[],
): string {
  return isWithoutAccess(violations)
    ? translations.t('consent.no_access.title', { client: cleanName(client.name) })
    : translations.t('problem.refused.title');
}

function isWithoutAccess(violations: readonly Violation[]): boolean {
  return violations.some(({ code }) => code === 'not-in-group');
}

/** Explains why the policy does not allow this user to grant the client's request, with one paragraph per reason. */
export function PolicyRefusal({
  translations,
  client,
  violations,
  help,
  retryPath,
  sessionsPath,
}: {
  translations: Translations;
  client: ShownClient;
  violations: readonly Violation[];
  help: Help;
  /** Where the user continues when the reasons no longer apply. */
  retryPath: string;
  /** Path of the page where users end sessions. */
  sessionsPath: string;
}): VNode {
  if (isWithoutAccess(violations)) {
    return (
      <>
        <Heading title={translations.rich('consent.no_access.title', { client: <ClientName name={client.name} /> })} />
        <div class="reason" data-error-code="not-in-group">
          <p>{translations.t('consent.no_access.text')}</p>
          <WhereToAsk translations={translations} help={help} />
        </div>
      </>
    );
  }
  return (
    <>
      <Heading title={translations.t('problem.refused.title')} />
      {violations.map((violation) => (
        <div class="reason" data-error-code={codeOf(violation)}>
          <Reason translations={translations} client={client} violation={violation} {...{ retryPath, sessionsPath }} />
        </div>
      ))}
    </>
  );
}

function WhereToAsk({ translations, help }: { translations: Translations; help: Help }): VNode {
  const { contact } = help;
  if (contact === undefined) {
    const service = <bdi class="name">{help.serviceName}</bdi>;
    return <p>{translations.rich('consent.no_access.administrator', { service })}</p>;
  }
  const link = (
    <a href={contact}>
      <bdi class="name">{contact.replace(/^(?:https:\/\/|mailto:)/, '').replace(/\?.*$/, '')}</bdi>
    </a>
  );
  return <p>{translations.rich('consent.no_access.contact', { contact: link })}</p>;
}

function codeOf(violation: Violation): string {
  return violation.code === 'policy-module' ? violation.violation.code : violation.code;
}

function Reason({
  translations,
  client,
  violation,
  retryPath,
  sessionsPath,
}: {
  translations: Translations;
  client: ShownClient;
  violation: Violation;
  retryPath: string;
  sessionsPath: string;
}): VNode {
  const name = <ClientName name={client.name} />;
  switch (violation.code) {
    case 'not-in-group':
      return <p>{translations.t('consent.no_access.text')}</p>;
    case 'admin-scope':
      return (
        <>
          <p>{translations.rich('consent.forbidden', { client: name })}</p>
          <ScopeList translations={translations} scopes={violation.scopes} />
        </>
      );
    case 'requester-banned':
      return <p>{translations.rich('consent.requester_banned', { client: name })}</p>;
    case 'policy-module':
      return <p>{moduleMessage(translations, violation.violation)}</p>;
    case 'too-many-sessions':
      return (
        <>
          <p>{translations.rich('consent.too_many_sessions', { client: name })}</p>
          <p>{translations.t('consent.too_many_sessions.what_to_do', { count: violation.needToRemove })}</p>
          <LinkButton kind="primary" href={sessionsPath}>
            {translations.t('consent.too_many_sessions.list')}
          </LinkButton>
          <LinkButton href={retryPath}>{translations.t('consent.too_many_sessions.retry')}</LinkButton>
        </>
      );
  }
}
