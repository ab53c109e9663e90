import type { User } from '#domain/accounts/user.ts';
import type { BrowserSessionId } from '#platform/base/ids.ts';

/** A person signed in with a cookie: one row of `user_sessions`. */
export interface BrowserSession {
  readonly id: BrowserSessionId;
  /** Milliseconds since the epoch of the last password check, second factor, passkey or upstream login. */
  readonly authenticatedAt: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly createdAt: number;
}

/**
 * What the `session` cookie of a request and its row amount to (browser-flows 2.5). `ended` was signed out from
 * elsewhere; those three dead kinds get an interstitial page and are no requester.
 */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'active'; readonly session: BrowserSession; readonly user: User }
  | { readonly kind: 'ended' | 'locked' | 'deactivated'; readonly sessionId: BrowserSessionId; readonly user: User };
