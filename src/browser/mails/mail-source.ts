import type { Core } from '#domain/core.ts';
import type { Job } from '#platform/jobs/queue.ts';
import type { Mailbox } from '#platform/mail/mail.ts';
import type { Translations } from '../i18n/translations.ts';
import type { Urls } from '../urls.ts';
import type { MailText } from './mail-text.ts';

/** Dependencies for composing emails. */
export interface MailDeps extends Core {
  readonly urls: Urls;
  readonly isRecoveryOpen: boolean;
}

/** What the text of an email depends on. */
export interface MailTextDeps extends Pick<MailDeps, 'config' | 'isRecoveryOpen' | 'urls'> {
  readonly upstream: Pick<Core['upstream'], 'providers'>;
}

/** Jobs of one queue. Each sends one email to one user. */
export interface MailSource {
  readonly queue: string;
  /**
   * Reads or creates the content of the email, at the time of sending and at each retry. A payload contains IDs, but no
   * code or ticket. Returns undefined if the email is no longer useful: it is not sent.
   */
  compose(deps: MailDeps, job: Job): Promise<ComposedMail | undefined>;
  /** Records that the email was handed over. */
  sent?(deps: MailDeps, job: Job): Promise<void>;
}

export interface ComposedMail {
  readonly to: Mailbox;
  /** BCP 47 tag. If it is undefined or not installed, the service's default language is used. */
  readonly language: string | undefined;
  text(translations: Translations): MailText;
}
