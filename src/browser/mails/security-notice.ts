/** Emails of `domain/security-notices`. */
import { findNotice, NOTICE_QUEUE, type Notice, type NoticeFacts } from '#domain/security-notices/security-notice.ts';
import type { Translations } from '../i18n/translations.ts';
import { circumstances, type Fact } from './circumstances.ts';
import type { MailSource, MailTextDeps } from './mail-source.ts';
import { inert, type MailPart, type MailText, quoted } from './mail-text.ts';

export const securityNotices: MailSource = {
  queue: NOTICE_QUEUE,
  compose: async (deps, { payload }) => {
    const facts = await findNotice(deps.database, payload);
    if (facts === undefined) return undefined;
    return {
      to: { name: facts.username, address: facts.to },
      language: facts.language,
      text: (translations) => NOTICE_TEXTS[facts.notice](deps, translations, facts),
    };
  },
};

const METHODS = ['passkey', 'password', 'upstream'] as const;
const FACTOR_CHANGES = [
  'passkey_added',
  'passkey_removed',
  'recovery_codes_generated',
  'totp_added',
  'totp_removed',
] as const;

type Text = (deps: MailTextDeps, translations: Translations, facts: NoticeFacts) => MailText;

export const NOTICE_TEXTS: Readonly<Record<Notice, Text>> = {
  account_deactivated: (_, translations, facts) => ({
    name: 'account_deactivated',
    subject: translations.t('mail.account_deactivated.title'),
    heading: translations.t('mail.account_deactivated.title'),
    parts: [
      text(translations.t(deactivated(facts, 'text'), { username: quoted(facts.username) })),
      circumstances(translations, facts),
      text(translations.t(deactivated(facts, 'advice'))),
    ],
  }),
  account_locked: (_, translations, facts) => ({
    name: 'account_locked',
    subject: translations.t('mail.account_locked.title'),
    heading: translations.t('mail.account_locked.title'),
    parts: [
      text(translations.t('mail.account_locked.text', { username: quoted(facts.username) })),
      circumstances(translations, facts),
      text(translations.t('mail.account_locked.advice')),
    ],
  }),
  cross_signing_reset: (deps, translations, facts) => ({
    name: 'cross_signing_reset',
    subject: translations.t('mail.cross_signing_reset.title'),
    heading: translations.t('mail.cross_signing_reset.title'),
    parts: [
      text(translations.t('mail.cross_signing_reset.text', { username: quoted(facts.username) })),
      circumstances(translations, facts),
      text(translations.t('mail.cross_signing_reset.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  data_export: (deps, translations, facts) => ({
    name: 'data_export',
    subject: translations.t('mail.data_export.title'),
    heading: translations.t('mail.data_export.title'),
    parts: [
      text(translations.t('mail.data_export.text', { username: quoted(facts.username) })),
      { kind: 'link', label: translations.t('mail.data_export.link'), href: deps.urls.absolute('account/') },
      text(translations.t('mail.data_export.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  email_added: (deps, translations, facts) => ({
    name: 'email_added',
    subject: translations.t('mail.email_added.title'),
    heading: translations.t('mail.email_added.title'),
    parts: [
      text(translations.t('mail.email_added.text', { username: quoted(facts.username) })),
      circumstances(translations, facts, changedAddress(translations, facts)),
      text(translations.t('mail.email_added.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  email_removed: (deps, translations, facts) => ({
    name: 'email_removed',
    subject: translations.t('mail.email_removed.title'),
    heading: translations.t('mail.email_removed.title'),
    parts: [
      text(translations.t('mail.email_removed.text', { username: quoted(facts.username) })),
      circumstances(translations, facts, changedAddress(translations, facts)),
      text(translations.t('mail.email_removed.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  factor_changed: (deps, translations, facts) => ({
    name: 'factor_changed',
    subject: translations.t('mail.factor_changed.title'),
    heading: translations.t('mail.factor_changed.title'),
    parts: [
      ...factorChange(translations, facts),
      circumstances(translations, facts, changedPasskey(translations, facts)),
      text(translations.t('mail.email_added.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  failed_logins: (deps, translations, { username }) => ({
    name: 'failed_logins',
    subject: translations.t('mail.failed_logins.title'),
    heading: translations.t('mail.failed_logins.title'),
    parts: [
      text(translations.t('mail.failed_logins.text', { username: quoted(username) })),
      text(translations.t('mail.failed_logins.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  new_signin: (deps, translations, facts) => ({
    name: 'new_signin',
    subject: translations.t('mail.new_signin.title'),
    heading: translations.t('mail.new_signin.title'),
    parts: [
      text(translations.t('mail.new_signin.text', { username: quoted(facts.username) })),
      circumstances(translations, facts, method(translations, facts)),
      { kind: 'link', label: translations.t('mail.sessions.link'), href: deps.urls.absolute('account/sessions') },
      text(translations.t('mail.new_signin.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  password_changed: (deps, translations, facts) => ({
    name: 'password_changed',
    subject: translations.t('mail.password_changed.title'),
    heading: translations.t('mail.password_changed.title'),
    parts: [
      text(translations.t('mail.password_changed.text', { username: quoted(facts.username) })),
      circumstances(translations, facts),
      ...endedSessions(translations, facts),
      text(translations.t('mail.password_changed.advice')),
      ...recover(deps, translations),
    ],
  }),
  recovery_code_used: (deps, translations, facts) => ({
    name: 'recovery_code_used',
    subject: translations.t('mail.recovery_code_used.title'),
    heading: translations.t('mail.recovery_code_used.title'),
    parts: [
      text(translations.t('mail.recovery_code_used.text', { username: quoted(facts.username) })),
      ...remainingCodes(translations, facts),
      circumstances(translations, facts),
      { kind: 'link', label: translations.t('account.codes.make'), href: deps.urls.absolute('account/security') },
      text(translations.t('mail.upstream_linked.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  upstream_linked: (deps, translations, facts) => ({
    name: 'upstream_linked',
    subject: translations.t('mail.upstream_linked.title'),
    heading: translations.t('mail.upstream_linked.title'),
    parts: [
      text(translations.t('mail.upstream_linked.text', { username: quoted(facts.username) })),
      circumstances(translations, facts, linkedProvider(translations, facts)),
      text(translations.t('mail.upstream_linked.advice')),
      ...changePassword(deps, translations),
    ],
  }),
  upstream_unlinked: (deps, translations, facts) => ({
    name: 'upstream_unlinked',
    subject: translations.t('mail.upstream_unlinked.title'),
    heading: translations.t('mail.upstream_unlinked.title'),
    parts: [
      text(translations.t('mail.upstream_unlinked.text', { username: quoted(facts.username) })),
      circumstances(translations, facts, linkedProvider(translations, facts)),
      text(translations.t('mail.upstream_linked.advice')),
      ...changePassword(deps, translations),
    ],
  }),
};

function text(words: string): MailPart {
  return { kind: 'text', text: words };
}

/** The text depends on whether the owner or an administrator deactivated the account. */
function deactivated<Part extends 'advice' | 'text'>({ detail }: NoticeFacts, part: Part) {
  return detail['own'] === true
    ? (`mail.account_deactivated.${part}_own` as const)
    : (`mail.account_deactivated.${part}` as const);
}

function endedSessions(translations: Translations, { detail }: NoticeFacts): MailPart[] {
  return [
    ...(detail['ends_browsers'] === true ? [text(translations.t('mail.password_changed.browsers'))] : []),
    ...(detail['ends_applications'] === true ? [text(translations.t('mail.password_changed.applications'))] : []),
  ];
}

/** For users whose password someone else has changed. */
function recover({ isRecoveryOpen, urls }: MailTextDeps, translations: Translations): MailPart[] {
  if (!isRecoveryOpen) return [];
  return [{ kind: 'link', label: translations.t('mail.recovery.link'), href: urls.absolute('recover') }];
}

/** How the user authenticated. */
function method(translations: Translations, { detail }: NoticeFacts): Fact[] {
  const known = METHODS.find((name) => name === detail['method']);
  if (known === undefined) return [];
  const provider = typeof detail['provider'] === 'string' ? inert(detail['provider']) : undefined;
  return [[translations.t('mail.fact.method'), provider ?? translations.t(`mail.method.${known}`)]];
}

function linkedProvider(translations: Translations, { detail }: NoticeFacts): Fact[] {
  const { provider } = detail;
  return typeof provider === 'string' ? [[translations.t('mail.fact.provider'), inert(provider)]] : [];
}

function factorChange(translations: Translations, { detail, username }: NoticeFacts): MailPart[] {
  const change = FACTOR_CHANGES.find((name) => name === detail['change']);
  if (change === undefined) return [];
  return [text(translations.t(`mail.factor_changed.${change}`, { username: quoted(username) }))];
}

function remainingCodes(translations: Translations, { detail }: NoticeFacts): MailPart[] {
  const { remaining } = detail;
  return typeof remaining === 'number' ? [text(translations.t('account.codes.remaining', { count: remaining }))] : [];
}

/** The passkey's name, as its owner chose it. */
function changedPasskey(translations: Translations, { detail }: NoticeFacts): Fact[] {
  const { passkey } = detail;
  return typeof passkey === 'string' ? [[translations.t('mail.fact.passkey'), inert(passkey)]] : [];
}

/** Partly hidden, because readers of one of the user's mailboxes need not learn about the others. */
function changedAddress(translations: Translations, { detail }: NoticeFacts): Fact[] {
  const { email } = detail;
  return typeof email === 'string' ? [[translations.t('mail.fact.email'), inert(email)]] : [];
}

function changePassword({ config, urls }: MailTextDeps, translations: Translations): MailPart[] {
  if (!config.passwords.enabled || !config.account.passwordChangeAllowed) return [];
  const href = urls.absolute('account/password/change');
  return [{ kind: 'link', label: translations.t('account.password.title'), href }];
}
