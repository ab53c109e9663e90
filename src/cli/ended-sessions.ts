import type { EndedApplicationSessions } from '#domain/oauth-sessions/end-oauth2-session.ts';

export interface EndedSessions extends EndedApplicationSessions {
  readonly browserSessions: number;
}

/** The line that commands end with when they ended sessions. */
export function endedSessions({ browserSessions, oauth2Sessions, compatSessions }: EndedSessions): string {
  return `ended browser sessions: ${browserSessions}, OAuth sessions: ${oauth2Sessions}, chat client sessions: ${compatSessions}\n`;
}
