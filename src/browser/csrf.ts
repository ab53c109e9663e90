import type { Clock } from '#platform/base/clock.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { equalSecrets } from '#platform/base/secret.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { Cookie, CookieJar } from '#platform/http/cookies.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Urls } from './urls.ts';
import { SESSION_COOKIE } from './viewer.ts';

/** Name of the hidden input that carries the token. */
const FIELD = 'csrf';
const HEADER = 'x-csrf-token';
/** Ends with the browser; the token inside says until when it counts. */
const CSRF_COOKIE: Cookie = { name: 'csrf' };
const LIFETIME_SECONDS = 3600;

/** What these checks need of a request. */
export type CsrfRequest = Pick<RequestContext, 'headers' | 'cookies'>;

interface CsrfCookie {
  readonly token: string;
  /** Whole seconds since the epoch. */
  readonly exp: number;
  /** The browser session that the token belongs to; absent for someone who is not signed in. */
  readonly session?: string | undefined;
}

/**
 * Proof that a form was posted from a page of ours, in the browser that the page was made for, by the person who was
 * signed in then (browser-flows 2.2): a token in a sealed cookie and in the form, and the headers by which browsers
 * tell where a request comes from.
 */
export class Csrf {
  readonly #origin: string;
  readonly #clock: Clock;

  constructor(options: { urls: Urls; clock: Clock }) {
    this.#origin = options.urls.origin;
    this.#clock = options.clock;
  }

  /** The token for the hidden input `csrf` of a form; moves the cookie's expiry forward. */
  field(context: CsrfRequest): string {
    const known = readCookie(context.cookies);
    const session = currentSession(context.cookies);
    const isUsable = known !== undefined && known.session === session && known.exp > this.#now();
    return this.#write(context.cookies, isUsable ? known.token : randomBase64Url(), session);
  }

  /** A new token, bound to the `session` cookie as it is set now: at sign-in, account switch and re-authentication. */
  rotate(context: CsrfRequest): void {
    this.#write(context.cookies, randomBase64Url(), currentSession(context.cookies));
  }

  /**
   * `expired`: everything fits but the form was rendered too long ago; render it again with a fresh token.
   * Throws `cross_site_request`, `csrf_missing` or `csrf_mismatch`, and `malformed_request` for a repeated field.
   */
  check(context: CsrfRequest, form: FormParameters): 'valid' | 'expired' {
    if (!this.#isSameOrigin(context.headers)) throw new LatchkeyError('cross_site_request');
    if (form.isRepeated(FIELD)) throw new LatchkeyError('malformed_request');
    return this.#judge(context, form.get(FIELD));
  }

  /** The same for a request of a script, which has the token of its page in a header. */
  checkHeader(context: CsrfRequest): 'valid' | 'expired' {
    if (!this.#isSameOrigin(context.headers)) throw new LatchkeyError('cross_site_request');
    const value = context.headers[HEADER];
    return this.#judge(context, typeof value === 'string' ? value : undefined);
  }

  #judge(context: CsrfRequest, field: string | undefined): 'valid' | 'expired' {
    const cookie = readCookie(context.cookies);
    if (field === undefined || cookie === undefined) throw new LatchkeyError('csrf_missing');
    if (!equalSecrets(field, cookie.token) || cookie.session !== currentSession(context.cookies)) {
      throw new LatchkeyError('csrf_mismatch');
    }
    return cookie.exp > this.#now() ? 'valid' : 'expired';
  }

  #isSameOrigin(headers: RequestContext['headers']): boolean {
    const site = headers['sec-fetch-site'];
    const { origin, referer } = headers;
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    if (origin !== undefined && origin !== this.#origin) return false;
    if (site !== undefined || origin !== undefined || referer === undefined) return true;
    return parseUrl(referer)?.origin === this.#origin;
  }

  #write(cookies: CookieJar, token: string, session: string | undefined): string {
    cookies.set(CSRF_COOKIE, { token, exp: this.#now() + LIFETIME_SECONDS, session });
    return token;
  }

  #now(): number {
    return epochSeconds(this.#clock.now());
  }
}

function readCookie(cookies: CookieJar): CsrfCookie | undefined {
  const value = cookies.open(CSRF_COOKIE);
  if (!isObject(value)) return undefined;
  const { token, exp, session } = value;
  if (typeof token !== 'string' || typeof exp !== 'number') return undefined;
  return { token, exp, session: typeof session === 'string' ? session : undefined };
}

/** The browser session that the `session` cookie names, dead or alive. */
function currentSession(cookies: CookieJar): string | undefined {
  const value = cookies.open(SESSION_COOKIE);
  return isObject(value) && typeof value['current'] === 'string' ? value['current'] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
