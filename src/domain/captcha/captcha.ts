/**
 * Puzzles that tell people from programs (browser-flows 5.4). A service makes them and judges them; each answer is asked
 * about once, since no service takes one twice. While the service does not answer nobody passes.
 */
import type { Config } from '#config/config.ts';
import type { CaptchaConfig } from '#config/sections/captcha.ts';
import { addressBucket, chargeAddress, countFailure, isBucketEmpty } from '#domain/rate-limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { parseJson } from '#platform/http/json-body.ts';
import { CircuitBreaker } from '#platform/outbound-http/circuit-breaker.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { CAPTCHA_SERVICES } from './services.ts';

/** A form that may have a puzzle. */
export type CaptchaForm = CaptchaConfig['forms'][number];

/** What a form brought, whatever was asked for. */
export interface CaptchaAnswer {
  /** Values of the fields of all services that are not empty. */
  readonly fields: readonly (readonly [field: string, value: string])[];
}

export type CaptchaOutcome = { readonly ok: true } | CaptchaRefusal;

export type CaptchaRefusal =
  | { readonly ok: false; readonly reason: 'captcha-unsolved' | 'captcha-unavailable' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

export interface CaptchaDeps {
  readonly config: Pick<Config, 'captcha' | 'http'>;
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<OutboundHttp, 'call'>;
}

const PASSED: CaptchaOutcome = { ok: true };
const TOTAL_MS = 5_000;
/** Answers that one address may have asked about: each of them is a request to the service. */
const CHECKS = { burst: 30, perSecond: 0.5 };
/** Wrong passwords of one address until signing in has a puzzle. */
const FREE_FAILURES = { burst: 3, perSecond: 3 / 3_600 };
/** What a service says when the keys are wrong, or itself is. */
const NOT_THE_ANSWER = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'sitekey-secret-mismatch',
  'not-using-dummy-passcode',
  'internal-error',
]);

export class Captcha {
  readonly #deps: CaptchaDeps;
  readonly #settings: CaptchaConfig | undefined;
  readonly #breaker: CircuitBreaker;

  constructor(deps: CaptchaDeps) {
    this.#deps = deps;
    this.#settings = deps.config.captcha;
    this.#breaker = new CircuitBreaker(deps.clock);
  }

  /** Whether this form has a puzzle for a caller from this address. */
  async isAskedFor(form: CaptchaForm, address: string | undefined): Promise<boolean> {
    if (this.#settings?.forms.includes(form) !== true) return false;
    if (form !== 'login') return true;
    const { clock, database } = this.#deps;
    return await isBucketEmpty(database, clock, this.#failuresOf(address));
  }

  /** Counts a wrong password, where that brings the puzzle nearer. */
  async countFailure(address: string | undefined): Promise<void> {
    if (this.#settings?.forms.includes('login') !== true) return;
    const { clock, database } = this.#deps;
    await countFailure(database, clock, this.#failuresOf(address));
  }

  /** Judges the answer of a form whose other fields are right: it can be used only once. */
  async check(form: CaptchaForm, answer: CaptchaAnswer, address: string | undefined): Promise<CaptchaOutcome> {
    const settings = this.#settings;
    if (settings === undefined || !(await this.isAskedFor(form, address))) return PASSED;
    const token = tokenOf(settings, answer);
    if (token === undefined) return this.#refuse(form, 'no answer of this service');
    const counted = await chargeAddress(this.#deps, { name: 'captcha', limiter: CHECKS, address });
    if (!counted.ok) return { ...counted, reason: 'rate-limited' };
    return await this.#judge(settings, form, token, address);
  }

  async #judge(
    settings: CaptchaConfig,
    form: CaptchaForm,
    token: string,
    address: string | undefined,
  ): Promise<CaptchaOutcome> {
    const said = await this.#ask(settings, token, address);
    if (typeof said === 'string') return this.#fail(form, said);
    const codes = errorCodes(said);
    if (said['success'] !== true) {
      const detail = codes.join(' ') || 'refused without a reason';
      return codes.some((code) => NOT_THE_ANSWER.has(code)) ? this.#fail(form, detail) : this.#refuse(form, detail);
    }
    // An answer from another site that has the same key would do there.
    const host = new URL(this.#deps.config.http.publicBase).hostname;
    return said['hostname'] === host ? PASSED : this.#refuse(form, 'solved on another host');
  }

  /** Members of what the service says, or why it says nothing. */
  async #ask(
    { service, secretKey }: CaptchaConfig,
    token: string,
    address: string | undefined,
  ): Promise<Readonly<Record<string, unknown>> | string> {
    if (!this.#breaker.admits()) return 'not asked: its last answers were failures';
    const form = new URLSearchParams({ secret: secretKey.reveal(), response: token });
    if (address !== undefined) form.set('remoteip', address);
    const answer = await this.#deps.outbound.call(CAPTCHA_SERVICES[service].verifyUrl, {
      server: 'captcha',
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      totalMs: TOTAL_MS,
    });
    if (!answer.ok) {
      // Our own bound says nothing about the service.
      if (answer.reason === 'busy') this.#breaker.giveUp();
      else this.#breaker.fail();
      return `no answer: ${answer.reason}`;
    }
    const said = answer.status < 500 ? membersOf(answer.body) : undefined;
    if (said === undefined) {
      this.#breaker.fail();
      return `status ${answer.status} without a verdict`;
    }
    this.#breaker.succeed();
    return said;
  }

  #failuresOf(address: string | undefined) {
    return addressBucket(this.#deps.log, { name: 'captcha-login', limiter: FREE_FAILURES, address });
  }

  #refuse(form: CaptchaForm, detail: string): CaptchaOutcome {
    this.#deps.log.info('auth.refused', 'the puzzle was not solved', { code: 'captcha', form, detail });
    return { ok: false, reason: 'captcha-unsolved' };
  }

  #fail(form: CaptchaForm, detail: string): CaptchaOutcome {
    this.#deps.log.warn('captcha.failed', 'the service of the puzzle gave no verdict: nobody passes', { form, detail });
    return { ok: false, reason: 'captcha-unavailable' };
  }
}

/**
 * The one answer, in the field of the service. The script of hCaptcha puts the same value into the field of reCAPTCHA
 * as well.
 */
function tokenOf({ service }: CaptchaConfig, { fields }: CaptchaAnswer): string | undefined {
  const { field } = CAPTCHA_SERVICES[service];
  const own = fields.filter(([name]) => name === field);
  const token = own.length === 1 ? own[0]?.[1] : undefined;
  const isAlone = fields.every(
    ([name, value]) =>
      name === field || (service === 'hcaptcha' && name === CAPTCHA_SERVICES.recaptcha_v2.field && value === token),
  );
  return isAlone ? token : undefined;
}

const MAX_CODES = 5;

/** Those that the services document are lower-case words; no others get into the log. */
function errorCodes(said: Readonly<Record<string, unknown>>): readonly string[] {
  const codes = said['error-codes'];
  if (!Array.isArray(codes)) return [];
  return codes
    .filter((code): code is string => typeof code === 'string' && /^[a-z-]{1,40}$/.test(code))
    .slice(0, MAX_CODES);
}

function membersOf(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(body);
    const isVerdict = typeof value === 'object' && value !== null && 'success' in value;
    return isVerdict && typeof value.success === 'boolean' ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
