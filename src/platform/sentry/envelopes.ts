/**
 * Sends envelopes to Sentry, one at a time. Drops what exceeds the limits or what Sentry currently rejects. So requests
 * never wait, and a frequent error costs neither memory nor quota.
 */
import type { Clock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { outside, resumeTask } from '#platform/base/tasks.ts';
import { type LimitingResponse, SentryRateLimits } from './rate-limits.ts';

const MAX_UNSENT = 100;
const MAX_PER_MINUTE = 100;
const MINUTE_MS = 60_000;
/** Shorter than the time that the shutdown allows for all flushes. */
const CLOSE_MS = 4_500;

export interface EnvelopesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Throws if Sentry does not respond. */
  post(envelope: string, signal: AbortSignal): Promise<LimitingResponse>;
}

type Kind = 'error' | 'transaction';

interface Waiting {
  readonly kind: Kind;
  readonly body: Readonly<Record<string, unknown>> & { readonly event_id: string };
}

export class Envelopes {
  readonly #options: EnvelopesOptions;
  readonly #limits = new SentryRateLimits();
  readonly #closing = new AbortController();
  readonly #waiting: Waiting[] = [];
  /** Counts for the current minute, kept separately so that transactions never crowd out errors. */
  #counted = { minute: 0, error: 0, transaction: 0 };
  #sending: Promise<void> | undefined;
  #dropped = 0;
  #reason = '';
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: EnvelopesOptions) {
    this.#options = options;
  }

  add(kind: Kind, body: Waiting['body']): void {
    const now = this.#options.clock.now();
    if (this.#limits.isLimited(kind, now)) this.#drop('rate limited by Sentry');
    else if (this.#isTooMuch(kind, now)) this.#drop('too many reports');
    else {
      this.#waiting.push({ kind, body });
      this.#start();
    }
  }

  /** Sends what is queued, within the time that a shutdown allows. */
  async close(): Promise<void> {
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    await this.#sending;
    clearTimeout(limit);
  }

  #isTooMuch(kind: Kind, now: number): boolean {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#counted.minute) this.#counted = { minute, error: 0, transaction: 0 };
    this.#counted[kind] += 1;
    return this.#counted[kind] > MAX_PER_MINUTE || this.#waiting.length >= MAX_UNSENT;
  }

  /** Runs outside of any task, otherwise it would count towards the request that failed. */
  #start(): void {
    this.#sending ??= new Promise<void>((resolve) => {
      setImmediate(() => resumeTask(undefined, () => void this.#sendAll().then(resolve)));
    }).finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    const { clock, post } = this.#options;
    const { signal } = this.#closing;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (signal.aborted || this.#limits.isLimited(next.kind, clock.now())) {
        this.#drop(signal.aborted ? 'the service is shutting down' : 'rate limited by Sentry');
        continue;
      }
      try {
        const response = await outside(post(envelopeOf(next, clock.now()), signal));
        this.#limits.learn(response, clock.now());
        if (response.status < 200 || response.status > 299) this.#drop(`status ${response.status}`);
      } catch (error) {
        this.#drop(describeError(error).message);
      }
    }
  }

  /** Logs at most once a minute. */
  #drop(reason: string): void {
    this.#dropped += 1;
    this.#reason = reason;
    if (performance.now() - this.#warnedAt < MINUTE_MS) return;
    this.#warnedAt = performance.now();
    this.#options.log.warn('sentry.dropped', 'failure reports dropped', {
      reports: this.#dropped,
      reason: this.#reason,
    });
    this.#dropped = 0;
  }
}

function envelopeOf({ kind, body }: Waiting, now: number): string {
  const head = { event_id: body.event_id, sent_at: new Date(now).toISOString() };
  const type = kind === 'error' ? 'event' : 'transaction';
  return `${JSON.stringify(head)}\n${JSON.stringify({ type })}\n${JSON.stringify(body)}\n`;
}
