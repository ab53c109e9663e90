import type { Clock } from '#platform/base/clock.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
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
/** A session cookie. The token inside contains its expiry. */
const CSRF_COOKIE: Cookie = { name: 'csrf' };
const LIFETIME_SECONDS = 3600;
const MAX_LOGGED_CHARACTERS = 200;
/** For a page of this service that a browser shows under a different URL. */
const REMEDY =
  'open the expected URL, or set http.public_base to the received one; a proxy must forward the Origin header';

/** The parts of a request that these checks need. */
export type CsrfRequest = Pick<RequestContext, 'headers' | 'cookies'>;

interface CsrfCookie {
  readonly token: string;
  /** Whole seconds since the epoch. */
  readonly exp: number;
  /** The browser session that the token belongs to. Undefined for visitors who are not signed in. */
  readonly session?: string | undefined;
}

/** Which check rejected a form, for the log. */
interface RefusedForm {
  /** Name of the header that identifies another site. */
  readonly header?: string;
  /** The origin that forms come from. */
  readonly expected?: string;
  /** The page's origin, as reported by the browser. */
  readonly received?: string;
  readonly host?: string | undefined;
  readonly remedy?: string;
  readonly missing?: 'field' | 'cookie';
  readonly differs?: 'token' | 'session';
}

/**
 * Verifies that a form was posted from a page of this service, in the browser that the page was rendered for, by the
 * user who was signed in then (browser-flows 2.2). It compares a token in a sealed cookie with the one in the form, and
 * checks the headers that report where a request comes from.
 */
export class Csrf {
  readonly #origin: string;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(options: { urls: Urls; clock: Clock; log: Log }) {
    this.#origin = options.urls.origin;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Returns the token for a form's hidden input `csrf`, and extends the cookie's expiry. */
  field(context: CsrfRequest): string {
    const known = readCookie(context.cookies);
    const session = currentSession(context.cookies);
    const isUsable = known !== undefined && known.session === session && known.exp > this.#now();
    return this.#write(context.cookies, isUsable ? known.token : randomBase64Url(), session);
  }

  /** Creates a new token, bound to the current `session` cookie: at sign-in, account switch and reauthentication. */
  rotate(context: CsrfRequest): void {
    this.#write(context.cookies, randomBase64Url(), currentSession(context.cookies));
  }

  /**
   * Checks a form. `expired` means that everything matches, but the form is too old: render it with a fresh token.
   * Throws `cross_site_request`, `csrf_missing` or `csrf_mismatch`, and `malformed_request` for a repeated field.
   */
  check(context: CsrfRequest, form: FormParameters): 'valid' | 'expired' {
    this.#checkOrigin(context.headers);
    if (form.isRepeated(FIELD)) throw new LatchkeyError('malformed_request');
    return this.#judge(context, form.get(FIELD));
  }

  /** Like `check`, for a request by script, which has the page's token in a header. */
  checkHeader(context: CsrfRequest): 'valid' | 'expired' {
    this.#checkOrigin(context.headers);
    const value = context.headers[HEADER];
    return this.#judge(context, typeof value === 'string' ? value : undefined);
  }

  #judge(context: CsrfRequest, field: string | undefined): 'valid' | 'expired' {
    const cookie = readCookie(context.cookies);
    if (field === undefined) throw this.#refusal('csrf_missing', { missing: 'field' });
    if (cookie === undefined) throw this.#refusal('csrf_missing', { missing: 'cookie' });
    if (!equalSecrets(field, cookie.token)) throw this.#refusal('csrf_mismatch', { differs: 'token' });
    if (cookie.session !== currentSession(context.cookies))
      throw this.#refusal('csrf_mismatch', { differs: 'session' });
    return cookie.exp > this.#now() ? 'valid' : 'expired';
  }

  #checkOrigin(headers: RequestContext['headers']): void {
    const header = this.#foreignHeader(headers);
    if (header === undefined) return;
    const received = String(headers.origin ?? headers.referer ?? '').slice(0, MAX_LOGGED_CHARACTERS);
    const host = headers.host?.slice(0, MAX_LOGGED_CHARACTERS);
    throw this.#refusal('cross_site_request', { header, expected: this.#origin, received, host, remedy: REMEDY });
  }

  /** Returns the name of the header that identifies another site. */
  #foreignHeader(headers: RequestContext['headers']): string | undefined {
    const site = headers['sec-fetch-site'];
    const { origin, referer } = headers;
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'Sec-Fetch-Site';
    if (origin !== undefined && origin !== this.#origin) return 'Origin';
    if (site !== undefined || origin !== undefined || referer === undefined) return undefined;
    return parseUrl(referer)?.origin === this.#origin ? undefined : 'Referer';
  }

  /** The page shows the code to the user. Only the operator can use the details of the failed check. */
  #refusal(code: 'cross_site_request' | 'csrf_mismatch' | 'csrf_missing', details: RefusedForm): LatchkeyError {
    this.#log.info('auth.refused', 'form submission refused', { code, ...details });
    return new LatchkeyError(code);
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

/** Returns the browser session that the `session` cookie names, live or not. */
function currentSession(cookies: CookieJar): string | undefined {
  const value = cookies.open(SESSION_COOKIE);
  return isObject(value) && typeof value['current'] === 'string' ? value['current'] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
