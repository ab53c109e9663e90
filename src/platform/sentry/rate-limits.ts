/** Tracks how long Sentry rejects envelopes, based on `X-Sentry-Rate-Limits` and `Retry-After`. */
type Category = 'error' | 'transaction';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 3_600;

export interface LimitingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export class SentryRateLimits {
  /** End of each limit, in milliseconds since the epoch. */
  readonly #until: Record<Category, number> = { error: 0, transaction: 0 };

  isLimited(category: Category, now: number): boolean {
    return now < this.#until[category];
  }

  /** Format: `SECONDS:CATEGORY;CATEGORY:…, …`. Without a category, the limit applies to all. Valid with any status. */
  learn({ status, headers }: LimitingResponse, now: number): void {
    const limits = headers['x-sentry-rate-limits'];
    if (typeof limits === 'string') {
      for (const limit of limits.split(',')) {
        const [seconds = '', categories = ''] = limit.trim().split(':');
        this.#limit(categories === '' ? [] : categories.split(';'), secondsOf(seconds), now);
      }
    } else if (status === 429) {
      this.#limit([], secondsOf(String(headers['retry-after'] ?? '')), now);
    }
  }

  #limit(categories: readonly string[], seconds: number, now: number): void {
    for (const category of ['error', 'transaction'] as const) {
      if (categories.length > 0 && !categories.includes(category)) continue;
      this.#until[category] = Math.max(this.#until[category], now + seconds * 1000);
    }
  }
}

function secondsOf(text: string): number {
  return Math.min(/^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_SECONDS, MAX_SECONDS);
}
