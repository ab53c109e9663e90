/**
 * Whether a password is known from leaks, asked of a public service by the first five hexadecimal digits of its SHA-1:
 * neither the password nor the rest of that leaves this process. Without an answer the password counts as unknown.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { CircuitBreaker } from '#platform/outbound-http/circuit-breaker.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';

const RANGE_URL = 'https://api.pwnedpasswords.com/range/';
const PREFIX_DIGITS = 5;
const TOTAL_MS = 2_000;
/** Failures in between are not told. */
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

  /** False also when the service does not answer, or is not to be asked. Not to be called within a transaction. */
  async has(password: string): Promise<boolean> {
    if (!this.#deps.isAsked || !this.#breaker.admits()) return false;
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    const range = await this.#ask(digest.slice(0, PREFIX_DIGITS));
    return range !== undefined && holds(range, digest.slice(PREFIX_DIGITS));
  }

  /** All digests that begin so, without that beginning, each with how often it was seen. */
  async #ask(prefix: string): Promise<string | undefined> {
    const answer = await this.#deps.outbound.call(RANGE_URL + prefix, {
      server: 'breach_check',
      method: 'GET',
      // Lines that mean nothing, so that the length of the answer does not tell which range it is.
      headers: { accept: 'text/plain', 'add-padding': 'true' },
      totalMs: TOTAL_MS,
    });
    if (answer.ok && answer.status === 200) {
      this.#breaker.succeed();
      return answer.body.toString();
    }
    // Our own bound says nothing about the service.
    if (!answer.ok && answer.reason === 'busy') this.#breaker.giveUp();
    else this.#breaker.fail();
    this.#tell(answer.ok ? `status ${answer.status}` : `no answer: ${answer.reason}`);
    return undefined;
  }

  #tell(detail: string): void {
    const { clock, log } = this.#deps;
    const now = clock.now();
    if (now - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = now;
    log.warn('breach_check.failed', 'new passwords are not compared with leaked ones: the service gave no answer', {
      detail,
    });
  }
}

/** Lines of padding have been seen 0 times. */
function holds(range: string, rest: string): boolean {
  return range.split('\n').some((line) => {
    const [digits, count = ''] = line.trim().split(':');
    return digits?.toUpperCase() === rest && Number(count) > 0;
  });
}
