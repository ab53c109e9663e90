import type { Core } from '#domain/core.ts';
import type { Job } from '#platform/jobs/queue.ts';
import type { Mailbox } from '#platform/mail/mail.ts';
import type { Translations } from '../i18n/translations.ts';
import type { Urls } from '../urls.ts';
import type { MailText } from './mail-text.ts';

/** What mails are made with. */
export interface MailDeps extends Core {
  readonly urls: Urls;
}

/** What a mail says depends on. */
export type MailTextDeps = Pick<MailDeps, 'config' | 'isRecoveryOpen' | 'upstreamProviders' | 'urls'>;

/** Jobs of one queue; each sends one mail, to one person. */
export interface MailSource {
  readonly queue: string;
  /**
   * Reads, or makes, what the mail says, at the time when it is sent and again at each further try: a payload holds
   * ids, and no code or ticket. Undefined when the mail is of no use any more: it is not sent.
   */
  compose(deps: MailDeps, job: Job): Promise<ComposedMail | undefined>;
}

export interface ComposedMail {
  readonly to: Mailbox;
  /** BCP 47 tag; the service's own language when it is undefined or not installed. */
  readonly language: string | undefined;
  text(translations: Translations): MailText;
}
