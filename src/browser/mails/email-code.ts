/** Emails of `domain/accounts/email-authentications`: a code, or a notice that an account already has the address. */
import { CODE_MAIL_QUEUE } from '#domain/accounts/email-authentications/begin-email-authentication.ts';
import { type CodeMail, issueEmailCode } from '#domain/accounts/email-authentications/issue-email-code.ts';
import type { Translations } from '../i18n/translations.ts';
import type { MailSource, MailTextDeps } from './mail-source.ts';
import { type MailPart, type MailText, quoted } from './mail-text.ts';

export const emailCodeMails: MailSource = {
  queue: CODE_MAIL_QUEUE,
  compose: async (deps, { payload }) => {
    const { account, email } = deps.config;
    const mail = await issueEmailCode(
      { ...deps, codeTtlSeconds: email.codeTtlSeconds, registrationTtlSeconds: account.registrationTtlSeconds },
      payload,
    );
    if (mail === undefined) return undefined;
    return {
      to: { name: mail.username, address: mail.to },
      language: mail.locale,
      text: (translations) => codeText(deps, translations, mail),
    };
  },
};

export function codeText(deps: MailTextDeps, translations: Translations, mail: CodeMail): MailText {
  const t = translations.t.bind(translations);
  const username = quoted(mail.username);
  switch (mail.kind) {
    case 'code':
      return {
        name: 'verification',
        subject: t('mail.verification.subject', { code: mail.code }),
        heading: t('mail.verification.title'),
        isUnknownRecipient: true,
        parts: [
          text(t('mail.verification.text', { username })),
          { kind: 'code', code: mail.code },
          text(t('mail.verification.expiry', { minutes: Math.round(deps.config.email.codeTtlSeconds / 60) })),
          text(t('mail.verification.ignore')),
        ],
      };
    case 'in-use':
      return {
        name: 'address_in_use',
        subject: t('mail.address_in_use.title'),
        heading: t('mail.address_in_use.title'),
        parts: [
          text(t('mail.address_in_use.text', { username })),
          { kind: 'link', label: t('recover.sign_in_link'), href: deps.urls.absolute('login') },
          ...recover(deps, translations),
          text(t('mail.address_in_use.ignore')),
        ],
      };
  }
}

function recover({ isRecoveryOpen, urls }: MailTextDeps, translations: Translations): MailPart[] {
  if (!isRecoveryOpen) return [];
  return [{ kind: 'link', label: translations.t('login.recover'), href: urls.absolute('recover') }];
}

function text(words: string): MailPart {
  return { kind: 'text', text: words };
}
