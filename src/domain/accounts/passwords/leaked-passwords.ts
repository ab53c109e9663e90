/**
 * Checks passwords against a public service of leaked passwords. Only the first five hexadecimal digits of the SHA-1
 * are sent; the password and the rest of the digest stay in this process. If the service does not answer, the password
 * passes.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { CircuitBreaker } from '#platform/outbound-http/circuit-breaker.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';

const RANGE_URL = 'https://api.pwnedpasswords.com/range/';
const PREFIX_DIGITS = 5;
const TOTAL_MS = 2_000;
/** Minimum interval between logged failures. */
const TOLD_EVERY_MS = 60_000;

export interface LeakedPasswordsDeps {
  /** `passwords.breach_check` */
  readonly isAsked: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<OutboundHttp, 'call'>;
}

export class LeakedPasswords {
  readonly #deps: LeakedPasswordsDeps;
  readonly #breaker: CircuitBreaker;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(deps: LeakedPasswordsDeps) {
    this.#deps = deps;
    this.#breaker = new CircuitBreaker(deps.clock);
  }

  /**
   * Returns whether the password is known from leaks. Also returns false if the check is disabled or the service does
   * not answer. Do not call this within a transaction.
   */
  async has(password: string): Promise<boolean> {
    if (!this.#deps.isAsked || !this.#breaker.admits()) return false;
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    const range = await this.#ask(digest.slice(0, PREFIX_DIGITS));
    return range !== undefined && holds(range, digest.slice(PREFIX_DIGITS));
  }

  /** Fetches the rest of all digests with this prefix, each with its number of occurrences. */
  async #ask(prefix: string): Promise<string | undefined> {
    const response = await this.#deps.outbound.call(RANGE_URL + prefix, {
      server: 'breach_check',
      method: 'GET',
      // Requests padding lines, so that the response length does not reveal the range.
      headers: { accept: 'text/plain', 'add-padding': 'true' },
      totalMs: TOTAL_MS,
    });
    if (response.ok && response.status === 200) {
      this.#breaker.succeed();
      return response.body.toString();
    }
    // Our own concurrency limit is not a failure of the service.
    if (!response.ok && response.reason === 'busy') this.#breaker.giveUp();
    else this.#breaker.fail();
    this.#tell(response.ok ? `status ${response.status}` : `no response: ${response.reason}`);
    return undefined;
  }

  #tell(detail: string): void {
    const { clock, log } = this.#deps;
    const now = clock.now();
    if (now - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = now;
    log.warn('breach_check.failed', 'leaked-password check skipped: the service did not respond', {
      detail,
    });
  }
}

/** Padding lines have a count of 0. */
function holds(range: string, rest: string): boolean {
  return range.split('\n').some((line) => {
    const [digits, count = ''] = line.trim().split(':');
    return digits?.toUpperCase() === rest && Number(count) > 0;
  });
}
