/**
 * Sends emails (browser-flows 11). Each email is a job, inserted in the transaction of the event that it reports.
 * Therefore no email reports what did not happen, and none is lost. An email can arrive twice only if the process ends
 * between handing it over and deleting its job. Both copies then have the same `Message-ID`.
 */
import type { Config } from '#config/config.ts';
import { takeTokens } from '#domain/limits/rate-limits.ts';
import { DONE, type Job, type JobOutcome, type JobQueue } from '#platform/jobs/queue.ts';
import type { MailTransport } from '#platform/mail/mail.ts';
import { sendMail } from '#platform/mail/send-mail.ts';
import { colorsOf } from '#vocabulary/theme.ts';
import type { TranslationCatalog } from '../i18n/translations.ts';
import type { MailDeps, MailSource } from './mail-source.ts';
import { type MailFrame, renderMail } from './render-mail.tsx';

export interface MailQueueDeps extends MailDeps {
  /** Undefined if no emails are sent. */
  readonly transport: MailTransport | undefined;
  readonly catalog: TranslationCatalog;
}

/** Time for the work before and after an attempt. */
const MARGIN_SECONDS = 15;

export function mailQueue(source: MailSource, deps: MailQueueDeps): JobQueue {
  return {
    name: source.queue,
    timeLimitSeconds: timeoutOf(deps) + MARGIN_SECONDS,
    run: (job) => send(source, deps, job),
  };
}

function timeoutOf({ config }: MailQueueDeps): number {
  const { transport } = config.email;
  return transport.kind === 'smtp' || transport.kind === 'sendmail' ? transport.timeoutSeconds : 30;
}

async function send(source: MailSource, deps: MailQueueDeps, job: Job): Promise<JobOutcome> {
  const { catalog, clock, config, log, transport } = deps;
  if (transport === undefined) {
    log.debug('mail.dropped', 'email discarded: email.transport is "blackhole"', { queue: source.queue });
    return DONE;
  }
  const later = await waitForTurn(deps);
  if (later !== undefined) return later;
  const mail = await source.compose(deps, job);
  if (mail === undefined) {
    log.info('mail.dropped', 'email no longer needed', { queue: source.queue });
    return DONE;
  }
  const translations = catalog.in(mail.language ?? config.i18n.defaultLanguage);
  const outcome = await sendMail(
    transport,
    {
      from: config.email.from,
      replyTo: config.email.replyTo,
      to: mail.to,
      id: job.id,
      date: new Date(clock.now()),
      ...renderMail(mailFrameOf(deps), translations, mail.text(translations), mail.to.name),
    },
    job.signal,
  );
  if (outcome.kind === 'sent') {
    await source.sent?.(deps, job);
    return DONE;
  }
  const { reason } = outcome;
  if (outcome.kind === 'retry') return { kind: 'retry', reason };
  log.warn('mail.failed', 'email permanently rejected', { queue: source.queue, reason });
  return { kind: 'failed', reason };
}

/** `email.max_per_minute`, for all processes together. */
async function waitForTurn({ config, database, clock }: MailQueueDeps): Promise<JobOutcome | undefined> {
  const { maxPerMinute } = config.email;
  if (maxPerMinute === undefined) return undefined;
  const limiter = { burst: maxPerMinute, perSecond: maxPerMinute / 60 };
  const taken = await takeTokens(database, clock, [{ key: 'mails', limiter }]);
  if (taken.ok) return undefined;
  return { kind: 'postponed', reason: 'email.max_per_minute reached', afterSeconds: taken.retryAfterSeconds };
}

/** Returns what all emails of this configuration share. */
export function mailFrameOf({ config: { branding, templates }, urls }: Pick<MailDeps, 'config' | 'urls'>): MailFrame {
  return {
    serviceName: branding.serviceName,
    address: urls.base,
    imprint: branding.imprint,
    colors: mailColors(branding),
    templates: templates.mails,
  };
}

/** The colors of the pages. */
function mailColors({ theme, accentColor, accentColorDark }: Config['branding']): MailFrame['colors'] {
  const own = theme ?? {
    light: accentColor === undefined ? {} : { accent: accentColor },
    dark: accentColorDark === undefined ? {} : { accent: accentColorDark },
  };
  return { light: colorsOf('light', own.light), dark: colorsOf('dark', own.dark) };
}
