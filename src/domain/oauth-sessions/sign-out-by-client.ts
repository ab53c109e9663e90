import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import type { BrowserSessionId, OAuth2SessionId, UserId } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';

export interface SignOutByClient {
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  /** The session of the client that asks; it grew out of the browser session. */
  readonly oauthSessionId: OAuth2SessionId;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the request came from, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/**
 * A client signs the person out: ends the browser session and the client's own OAuth session, both or none. Sessions
 * of other clients stay. What another request has ended before stays as it was.
 */
export async function signOutByClient(database: Database, signOut: SignOutByClient): Promise<void> {
  const { userId, browserSessionId, oauthSessionId, now, address, userAgent } = signOut;
  const end = { reason: 'logout', now, address, userAgent } as const;
  await database.transaction(
    async (transaction) => {
      // Browser sessions are locked before OAuth sessions, as everywhere.
      await finishBrowserSession(transaction, { ...end, userId, which: browserSessionId });
      await endOAuth2Session(transaction, oauthSessionId, end);
    },
    { isRepeatable: true },
  );
}
