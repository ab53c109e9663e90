import type { VNode } from 'preact';
import type { Clock } from '#platform/base/clock.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { Notice } from './components/text.tsx';
import type { MessageKey, Translations } from './i18n/translations.ts';

const NOTICES = {
  code_sent: 'notice.code_sent',
  email_sent: 'notice.email_sent',
  login_expired: 'notice.login_expired',
  password_recovered: 'notice.password_recovered',
  upstream_cancelled: 'notice.upstream_cancelled',
} as const satisfies Readonly<Record<string, MessageKey>>;

export type NoticeCode = keyof typeof NOTICES;

const PARAMETER = 'notice';
const LABEL = 'notice';
/** A page that is reopened later does not repeat the notice. */
const LIFETIME_MS = 60_000;
const COOKIE: Cookie = { name: 'notice', maxAgeSeconds: LIFETIME_MS / 1000 };

/**
 * The outcome of a form, shown on the page that it redirects to (browser-flows 12.4). It travels sealed in the query,
 * so that a link from elsewhere cannot make a page show one.
 */
export class Notices {
  readonly #keyRing: KeyRing;
  readonly #clock: Clock;

  constructor(options: { keyRing: KeyRing; clock: Clock }) {
    this.#keyRing = options.keyRing;
    this.#clock = options.clock;
  }

  /** Returns the field for the query of the next page. */
  field(code: NoticeCode): readonly [name: string, value: string] {
    const sealed = this.#keyRing.seal(LABEL, `${this.#clock.now()} ${code}`);
    return [PARAMETER, sealed.toString('base64url')];
  }

  /** Leaves a notice for the sign-in form, when a script leads there instead of this response. */
  leave({ cookies }: Pick<RequestContext, 'cookies'>, code: NoticeCode): void {
    cookies.set(COOKIE, [this.#clock.now(), code]);
  }

  /** Reads a notice that was left. */
  readLeft({ cookies }: Pick<RequestContext, 'cookies'>): NoticeCode | undefined {
    const value = cookies.open(COOKIE);
    const [at, code] = Array.isArray(value) ? value : [];
    return typeof code === 'string' ? this.#checked(Number(at), code) : undefined;
  }

  /** Returns undefined without a notice, or if it is foreign or expired. */
  read({ query }: Pick<RequestContext, 'query'>): NoticeCode | undefined {
    const value = query.get(PARAMETER);
    const opened = value === undefined ? undefined : this.#keyRing.open(LABEL, Buffer.from(value, 'base64url'));
    const [at = '', code = ''] = opened?.toString().split(' ') ?? [];
    return this.#checked(Number(at), code);
  }

  #checked(at: number, code: string): NoticeCode | undefined {
    const isFresh = this.#clock.now() - at < LIFETIME_MS;
    return isFresh && isCode(code) ? code : undefined;
  }
}

function isCode(code: string): code is NoticeCode {
  return Object.hasOwn(NOTICES, code);
}

/** The notice as text. Empty without a notice. */
export function NoticeLine({
  translations,
  code,
}: {
  translations: Translations;
  code: NoticeCode | undefined;
}): VNode | null {
  if (code === undefined) return null;
  return (
    <Notice kind={code === 'upstream_cancelled' || code === 'login_expired' ? 'info' : 'success'}>
      <span role="status" data-notice={code}>
        {translations.t(NOTICES[code])}
      </span>
    </Notice>
  );
}
