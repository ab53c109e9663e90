/** Emails of `domain/accounts/registrations`: the link of an invitation. */
import {
  INVITATION_MAIL_QUEUE,
  type InvitationMail,
  markInvitationSent,
  readInvitationMail,
} from '#domain/accounts/registrations/invitation-mail.ts';
import type { Translations } from '../i18n/translations.ts';
import type { MailSource, MailTextDeps } from './mail-source.ts';
import { isolated, type MailPart, type MailText } from './mail-text.ts';

export const invitationMails: MailSource = {
  queue: INVITATION_MAIL_QUEUE,
  compose: async (deps, { payload }) => {
    const mail = await readInvitationMail(deps, payload);
    if (mail === undefined) return undefined;
    return {
      to: { name: undefined, address: mail.to },
      language: mail.language,
      text: (translations) => invitationText(deps, translations, mail),
    };
  },
  sent: (deps, { payload }) => markInvitationSent(deps, payload),
};

export function invitationText(
  { config, urls }: MailTextDeps,
  translations: Translations,
  { token, proof, expiresAt }: Omit<InvitationMail, 'to' | 'language'>,
): MailText {
  const t = translations.t.bind(translations);
  const service = isolated(config.branding.serviceName);
  return {
    name: 'invitation',
    subject: t('mail.invitation.subject', { service }),
    heading: t('mail.invitation.title'),
    isUnknownRecipient: true,
    parts: [
      text(t('mail.invitation.text', { service })),
      { kind: 'link', label: t('mail.invitation.link'), href: urls.invitation(token, proof) },
      ...(expiresAt === undefined
        ? []
        : [text(t('mail.invitation.expiry', { time: timeIn(translations.language, expiresAt) }))]),
      text(t('mail.invitation.ignore')),
    ],
  };
}

function timeIn(language: string, at: number): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' }).format(at);
}

function text(words: string): MailPart {
  return { kind: 'text', text: words };
}
