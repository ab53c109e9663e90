import type { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { expireBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import {
  adoptImportedSession,
  MAS_SESSION_COOKIE,
  readMasSessionCookie,
} from '#domain/browser-sessions/imported-session.ts';
import { type KnownBrowser, parseKnownBrowsers, rememberAccount } from '#domain/browser-sessions/known-browsers.ts';
import {
  findViewerRow,
  resolveViewer,
  type SessionLimits,
  type Viewer,
  type ViewerRow,
} from '#domain/browser-sessions/viewer.ts';
import { parseSessionCookie, type SessionCookie, type SessionCredentials } from '#domain/records/browser-session.ts';
import type { User } from '#domain/records/user.ts';
import { type Clock, epochSeconds } from '#platform/base/clock.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';
import type { Pages } from './pages.ts';

/** The user who is signed in in this browser. */
export const SESSION_COOKIE: Cookie = { name: 'session', maxAgeSeconds: 400 * 86_400 };
const SIGNED_OUT_MS = 5 * 60_000;
/** The session cookie is renewed when less than 300 days are left. */
const RENEW_AFTER_SECONDS = 100 * 86_400;
/** The accounts that have signed in here before. */
export const KNOWN_COOKIE: Cookie = { name: 'known', maxAgeSeconds: 400 * 86_400 };

/** The parts of a request that this module needs. */
export type ViewerRequest = Pick<
  RequestContext,
  'cookies' | 'clientAddress' | 'headers' | 'requireWork' | 'setRequester' | 'userAgent'
>;

/**
 * Returns a view of a request that counts for its viewer's account, but is served even if the account has used up its
 * limit.
 */
export function withoutLimit(context: RequestContext): ViewerRequest {
  const { cookies, clientAddress, headers, userAgent } = context;
  return {
    ...{ cookies, clientAddress, headers, userAgent },
    setRequester: (...named) => context.setRequester(...named),
    requireWork: () => {},
  };
}

export interface ViewerDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: SessionLimits;
  readonly activity: ActivityBuffer;
  readonly pages: Pick<Pages, 'ownLanguage'>;
  /** Opens the cookies of imported sessions. */
  readonly keyRing: Pick<KeyRing, 'expand'>;
}

/**
 * The user behind a request. Reads the `session` cookie and its row (browser-flows 2.5), and writes the `session` and
 * `known` cookies when a user signs in or out.
 */
export class Viewers {
  readonly #deps: ViewerDeps;

  constructor(deps: ViewerDeps) {
    this.#deps = deps;
  }

  /** Returns the session that the browser claims, unverified. For statements that read the viewer with other rows. */
  cookie(context: ViewerRequest): SessionCookie | undefined {
    return parseSessionCookie(context.cookies.open(SESSION_COOKIE));
  }

  /** Returns the viewer. Takes one lookup, or none without a cookie. An active viewer becomes the requester. */
  async read(context: ViewerRequest): Promise<Viewer> {
    const cookie = this.cookie(context);
    const row = cookie === undefined ? undefined : await findViewerRow(this.#deps.database, cookie.id);
    return await this.accept(context, row);
  }

  /** The same for a row from a joined read (`viewerColumns`). */
  async accept(context: ViewerRequest, claimed: ViewerRow | undefined): Promise<Viewer> {
    const { database, clock, limits, activity } = this.#deps;
    const now = clock.now();
    let row = claimed;
    if (context.cookies.open(SESSION_COOKIE) === undefined) {
      const adopted = await this.#adoptImported(context);
      if (adopted === undefined) return { kind: 'anonymous' };
      row = await findViewerRow(database, adopted);
    }
    const cookie = this.cookie(context);
    const { viewer, remark } = resolveViewer(row, cookie, limits, now);
    if (remark === 'expired' && cookie !== undefined) await expireBrowserSession(database, cookie.id, now);
    if (remark !== undefined) this.forget(context);
    if (viewer.kind !== 'active') return viewer;
    context.setRequester({ kind: 'user', id: viewer.user.id, username: viewer.user.username });
    context.requireWork();
    activity.recordBrowserSession(viewer.session.id, now, context.clientAddress, context.userAgent);
    this.#rememberLanguage(context, viewer.user);
    if (cookie !== undefined) this.#renew(context, cookie, row);
    return viewer;
  }

  /** Returns the accounts that have signed in from this browser. */
  knownBrowsers(context: ViewerRequest): KnownBrowser[] {
    return parseKnownBrowsers(context.cookies.open(KNOWN_COOKIE));
  }

  /**
   * Sets the cookies of a session that was just opened, and makes its user the requester.
   * @param known the browser's resulting known accounts, if they were already computed
   */
  signIn(
    context: ViewerRequest,
    session: SessionCredentials,
    user: User,
    known: readonly KnownBrowser[] = rememberAccount(this.knownBrowsers(context), user.id),
  ): void {
    this.rotate(context, session);
    context.cookies.set(
      KNOWN_COOKIE,
      known.map((entry) => ({ user: entry.user, nonce: entry.nonce })),
    );
    context.setRequester({ kind: 'user', id: user.id, username: user.username }, { replace: true });
    this.#rememberLanguage(context, user);
  }

  /** Sets the session cookie with the session's new key after reauthentication. */
  rotate(context: ViewerRequest, session: SessionCredentials): void {
    const value = { current: session.id, key: session.key, set_at: epochSeconds(this.#deps.clock.now()) };
    context.cookies.set(SESSION_COOKIE, value);
  }

  /** Sets a session cookie that names no session, but contains the time of sign-out. */
  forget(context: ViewerRequest): void {
    const value = { logged_out_at: new Date(this.#deps.clock.now()).toISOString() };
    context.cookies.set(SESSION_COOKIE, value);
  }

  /** Returns when this browser was signed out, in milliseconds since the epoch. Undefined if it was not. */
  signedOutAt(context: ViewerRequest): number | undefined {
    const value = context.cookies.open(SESSION_COOKIE);
    if (typeof value !== 'object' || value === null || !('logged_out_at' in value)) return undefined;
    const at = typeof value.logged_out_at === 'string' ? Date.parse(value.logged_out_at) : Number.NaN;
    return Number.isNaN(at) ? undefined : at;
  }

  /** After signing out, users must not be signed in automatically. */
  isJustSignedOut(context: ViewerRequest): boolean {
    const at = this.signedOutAt(context);
    return at !== undefined && this.#deps.clock.now() - at < SIGNED_OUT_MS;
  }

  /**
   * Continues the session of a browser that still has the cookie of the server that the session was imported from. A
   * browser without such a cookie, or with one of its own here, needs no statement.
   */
  async #adoptImported(context: ViewerRequest): Promise<BrowserSessionId | undefined> {
    const { clock, database, keyRing } = this.#deps;
    for (const value of context.cookies.received(MAS_SESSION_COOKIE)) {
      const id = readMasSessionCookie(value, keyRing);
      const session = id === undefined ? undefined : await adoptImportedSession(database, id, clock.now());
      if (session === undefined) continue;
      this.rotate(context, session);
      return session.id;
    }
    return undefined;
  }

  /** Remembers the language for later emails. It is written with the last activity times. */
  #rememberLanguage(context: ViewerRequest, user: User): void {
    const { activity, clock, pages } = this.#deps;
    const language = pages.ownLanguage(context);
    if (language !== undefined && language !== user.locale) activity.recordLanguage(user.id, clock.now(), language);
  }

  #renew(context: ViewerRequest, cookie: SessionCookie, row: ViewerRow | undefined): void {
    const age = epochSeconds(this.#deps.clock.now()) - cookie.setAtSeconds;
    if (age < RENEW_AFTER_SECONDS || row === undefined || row.viewer_session_id === null) return;
    // A concurrent request with the key from before the last rotation must not restore that key.
    if (row.viewer_key_hash.equals(cookie.keyHash)) this.rotate(context, cookie);
  }
}
