/** Emails of `domain/account-changes`: one per request for a new password. */
import { issueRecoveryTicket, type RecoveryMail } from '#domain/account-changes/issue-recovery-ticket.ts';
import { RECOVERY_MAIL_QUEUE } from '#domain/account-changes/start-recovery.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import type { Translations } from '../i18n/translations.ts';
import { circumstances } from './circumstances.ts';
import type { MailSource, MailTextDeps } from './mail-source.ts';
import { type MailPart, type MailText, quoted } from './mail-text.ts';

export const recoveryMails: MailSource = {
  queue: RECOVERY_MAIL_QUEUE,
  compose: async (deps, { payload }) => {
    const { account, email } = deps.config;
    const mail = await issueRecoveryTicket(
      {
        ...deps,
        sessionTtlSeconds: account.recoverySessionTtlSeconds,
        setsFirstPassword: account.recoverySetsFirstPassword,
      },
      payload,
    );
    if (mail === undefined) return undefined;
    if (mail.kind === 'unknown' && !email.notifyUnknownRecovery) return undefined;
    const name = mail.kind === 'unknown' ? undefined : mail.username;
    return {
      to: { name, address: mail.to },
      language: mail.locale,
      text: (translations) => recoveryText(deps, translations, mail),
    };
  },
};

export function recoveryText(deps: MailTextDeps, translations: Translations, mail: RecoveryMail): MailText {
  const t = translations.t.bind(translations);
  const { config, urls } = deps;
  const facts = circumstances(translations, mail);
  switch (mail.kind) {
    case 'ticket':
      return {
        name: 'recovery',
        subject: t('mail.recovery.title'),
        heading: t('mail.recovery.title'),
        parts: [
          text(t('mail.recovery.text', { username: quoted(mail.username) })),
          { kind: 'link', label: t('mail.recovery.link'), href: urls.recoveryLink(mail.ticket) },
          text(t('mail.recovery.expiry', { minutes: Math.round(config.account.recoveryTicketTtlSeconds / 60) })),
          facts,
          text(t('mail.recovery.ignore')),
        ],
      };
    case 'no-password':
      return {
        name: 'recovery_no_password',
        subject: t('mail.recovery_no_password.title'),
        heading: t('mail.recovery_no_password.title'),
        parts: [
          text(t('mail.recovery_no_password.text', { username: quoted(mail.username) })),
          text(otherWays(deps, translations, mail.providers)),
          { kind: 'link', label: t('mail.recovery_no_password.link'), href: urls.absolute('login') },
          facts,
        ],
      };
    case 'unknown':
      return {
        name: 'recovery_unknown',
        subject: t('mail.recovery_unknown.title'),
        heading: t('mail.recovery_unknown.title'),
        isUnknownRecipient: true,
        parts: [text(t('mail.recovery_unknown.text')), facts],
      };
  }
}

function text(words: string): MailPart {
  return { kind: 'text', text: words };
}

/** Explains how to sign in to an account without a password, with the names of the available providers. */
function otherWays(
  { upstream }: MailTextDeps,
  translations: Translations,
  linked: readonly UpstreamProvider['id'][],
): string {
  const usable = upstream.providers.enabled.filter(({ id }) => linked.includes(id));
  if (usable.length === 0) return translations.t('mail.recovery_no_password.elsewhere');
  const names = new Intl.ListFormat(translations.language, { type: 'disjunction' });
  const providers = names.format(usable.map((provider) => quoted(provider.name)));
  return translations.t('mail.recovery_no_password.providers', { providers });
}
