/**
 * CAPTCHAs (browser-flows 5.4). An external service creates and verifies them. Each response is verified once, since no
 * service accepts one twice. While the service is unavailable, forms with a CAPTCHA are rejected.
 */
import type { Config } from '#config/config.ts';
import type { CaptchaConfig } from '#config/sections/captcha.ts';
import { addressBucket, chargeAddress, countFailure, isBucketEmpty } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { parseJson } from '#platform/http/json-body.ts';
import { CircuitBreaker } from '#platform/outbound-http/circuit-breaker.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { CAPTCHA_SERVICES } from './services.ts';

/** A form that may have a CAPTCHA. */
export type CaptchaForm = CaptchaConfig['forms'][number];

/** The CAPTCHA fields that a form submitted, whether or not a CAPTCHA was required. */
export interface CaptchaResponse {
  /** Nonempty values of the fields of all services. */
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
/** Limits verifications per address, since each is a request to the service. */
const CHECKS = { burst: 30, perSecond: 0.5 };
/** Wrong passwords per address before the sign-in form requires a CAPTCHA. */
const FREE_FAILURES = { burst: 3, perSecond: 3 / 3_600 };
/** Error codes for wrong keys or a failure of the service itself. */
const NOT_THE_SOLUTION = new Set([
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

  /** Returns whether this form requires a CAPTCHA for requests from this address. */
  async isAskedFor(form: CaptchaForm, address: string | undefined): Promise<boolean> {
    if (this.#settings?.forms.includes(form) !== true) return false;
    if (form !== 'login') return true;
    const { clock, database } = this.#deps;
    return await isBucketEmpty(database, clock, this.#failuresOf(address));
  }

  /** Counts a wrong password, if sign-in requires a CAPTCHA after several of them. */
  async countFailure(address: string | undefined): Promise<void> {
    if (this.#settings?.forms.includes('login') !== true) return;
    const { clock, database } = this.#deps;
    await countFailure(database, clock, this.#failuresOf(address));
  }

  /**
   * Verifies the response of a form. Call this once the other fields are valid, because a response can be used only
   * once.
   */
  async check(form: CaptchaForm, response: CaptchaResponse, address: string | undefined): Promise<CaptchaOutcome> {
    const settings = this.#settings;
    if (settings === undefined || !(await this.isAskedFor(form, address))) return PASSED;
    const token = tokenOf(settings, response);
    if (token === undefined) return this.#refuse(form, 'no response from this CAPTCHA service in the form');
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
      const detail = codes.join(' ') || 'rejected without a reason';
      return codes.some((code) => NOT_THE_SOLUTION.has(code)) ? this.#fail(form, detail) : this.#refuse(form, detail);
    }
    // Rejects a response obtained on another site with the same key.
    const host = new URL(this.#deps.config.http.publicBase).hostname;
    return said['hostname'] === host ? PASSED : this.#refuse(form, 'solved for a different host');
  }

  /** Returns the fields of the service's response, or the reason why there is none. */
  async #ask(
    { service, secretKey }: CaptchaConfig,
    token: string,
    address: string | undefined,
  ): Promise<Readonly<Record<string, unknown>> | string> {
    if (!this.#breaker.admits()) return 'not called after repeated failures';
    const form = new URLSearchParams({ secret: secretKey.reveal(), response: token });
    if (address !== undefined) form.set('remoteip', address);
    const response = await this.#deps.outbound.call(CAPTCHA_SERVICES[service].verifyUrl, {
      server: 'captcha',
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      totalMs: TOTAL_MS,
    });
    if (!response.ok) {
      // The request hit our own limit, so the service has not failed.
      if (response.reason === 'busy') this.#breaker.giveUp();
      else this.#breaker.fail();
      return `no response: ${response.reason}`;
    }
    const said = response.status < 500 ? membersOf(response.body) : undefined;
    if (said === undefined) {
      this.#breaker.fail();
      return `status ${response.status} without a result`;
    }
    this.#breaker.succeed();
    return said;
  }

  #failuresOf(address: string | undefined) {
    return addressBucket(this.#deps.log, { name: 'captcha-login', limiter: FREE_FAILURES, address });
  }

  #refuse(form: CaptchaForm, detail: string): CaptchaOutcome {
    this.#deps.log.info('auth.refused', 'CAPTCHA not solved', { code: 'captcha', form, detail });
    return { ok: false, reason: 'captcha-unsolved' };
  }

  #fail(form: CaptchaForm, detail: string): CaptchaOutcome {
    this.#deps.log.warn('captcha.failed', 'CAPTCHA verification failed; the form was refused', { form, detail });
    return { ok: false, reason: 'captcha-unavailable' };
  }
}

/**
 * Returns the single response, which must be in the field of the service. The hCaptcha script also puts the value into
 * the reCAPTCHA field.
 */
function tokenOf({ service }: CaptchaConfig, { fields }: CaptchaResponse): string | undefined {
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

/** The documented codes are lower-case words. Other values are not logged. */
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
