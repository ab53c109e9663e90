/** Samples of every email, one for each of its variants. */
import type { MailName } from '#config/mail-template.ts';
import { NOTICES, type Notice } from '#domain/security-notices/security-notice.ts';
import type { SampleContext } from '../sample.ts';
import { codeText } from './email-code.ts';
import { invitationText } from './invitation.ts';
import type { MailTextDeps } from './mail-source.ts';
import type { MailText } from './mail-text.ts';
import { recoveryText } from './recovery.ts';
import { NOTICE_TEXTS } from './security-notice.ts';

type MailContext = Pick<SampleContext, 'now' | 'text' | 'token' | 'translations'> & {
  /** Six digits. */
  readonly code: string;
};

export interface MailSample {
  /** Name of the email, and what distinguishes the sample from its other samples. */
  readonly name: MailName | `${MailName}-${string}`;
  text(deps: MailTextDeps, context: MailContext): MailText;
}

const TO = 'amira@mail.example';
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

function request({ now, translations }: MailContext) {
  return { at: new Date(now), locale: translations.language, address: '192.0.2.1', userAgent: USER_AGENT };
}

/** Additional facts of a notice, if it has any. */
const DETAILS: Readonly<Partial<Record<Notice, Readonly<Record<string, (text: string) => Record<string, unknown>>>>>> =
  {
    account_deactivated: { own: () => ({ own: true }), other: () => ({}) },
    email_added: { '': (text) => ({ email: text }) },
    email_removed: { '': (text) => ({ email: text }) },
    factor_changed: {
      passkey_added: (text) => ({ change: 'passkey_added', passkey: text }),
      passkey_removed: (text) => ({ change: 'passkey_removed', passkey: text }),
      recovery_codes_generated: () => ({ change: 'recovery_codes_generated' }),
      totp_added: () => ({ change: 'totp_added' }),
      totp_removed: () => ({ change: 'totp_removed' }),
    },
    new_signin: {
      password: () => ({ method: 'password' }),
      provider: (text) => ({ method: 'upstream', provider: text }),
    },
    password_changed: { all: () => ({ ends_browsers: true, ends_applications: true }), none: () => ({}) },
    recovery_code_used: { '': () => ({ remaining: 4 }), none: () => ({ remaining: 0 }) },
    upstream_linked: { '': (text) => ({ provider: text }) },
    upstream_unlinked: { '': (text) => ({ provider: text }) },
  };

function noticeSamples(notice: Notice): MailSample[] {
  return Object.entries(DETAILS[notice] ?? { '': () => ({}) }).map(([variant, detail]) => ({
    name: variant === '' ? notice : (`${notice}-${variant}` as const),
    text: (deps, context) => {
      const { translations, text } = context;
      const facts = { ...request(context), notice, to: TO, username: text, language: undefined, detail: detail(text) };
      return NOTICE_TEXTS[notice](deps, translations, facts);
    },
  }));
}

export const mailSamples: readonly MailSample[] = [
  {
    name: 'verification',
    text: (deps, { translations, text, code }) =>
      codeText(deps, translations, { kind: 'code', to: TO, username: text, locale: translations.language, code }),
  },
  {
    name: 'address_in_use',
    text: (deps, { translations, text }) =>
      codeText(deps, translations, { kind: 'in-use', to: TO, username: text, locale: translations.language }),
  },
  ...[undefined, 7].map(
    (days): MailSample => ({
      name: days === undefined ? 'invitation' : 'invitation-expiring',
      text: (deps, { translations, token, now }) =>
        invitationText(deps, translations, {
          ...{ token: 'Xq3vL8mRt0Pz', proof: token },
          expiresAt: days === undefined ? undefined : now + days * 86_400_000,
        }),
    }),
  ),
  {
    name: 'recovery',
    text: (deps, context) => {
      const { translations, text, token } = context;
      const mail = { ...request(context), kind: 'ticket', to: TO, username: text, ticket: token } as const;
      return recoveryText(deps, translations, mail);
    },
  },
  {
    name: 'recovery_no_password',
    text: (deps, context) => {
      const { translations, text } = context;
      const providers = deps.upstream.providers.enabled.map(({ id }) => id);
      const mail = { ...request(context), kind: 'no-password', to: TO, username: text, providers } as const;
      return recoveryText(deps, translations, mail);
    },
  },
  {
    name: 'recovery_unknown',
    text: (deps, context) => recoveryText(deps, context.translations, { ...request(context), kind: 'unknown', to: TO }),
  },
  ...NOTICES.flatMap(noticeSamples),
];
