import type { EndedApplicationSessions } from '#domain/oauth-sessions/end-oauth2-session.ts';

export interface EndedSessions extends EndedApplicationSessions {
  readonly browserSessions: number;
  /** Undefined: they were not to end. */
  readonly personalSessions?: number;
}

/** The line that commands end with when they ended sessions. */
export function endedSessions(ended: EndedSessions): string {
  const { browserSessions, oauth2Sessions, compatSessions, personalSessions } = ended;
  const personal = personalSessions === undefined ? '' : `, personal sessions: ${personalSessions}`;
  return `ended browser sessions: ${browserSessions}, OAuth sessions: ${oauth2Sessions}, chat client sessions: ${compatSessions}${personal}\n`;
}

/** The same in what commands print with `--json`. */
export function endedDocument({
  browserSessions,
  oauth2Sessions,
  compatSessions,
  personalSessions = 0,
}: EndedSessions) {
  return { browser: browserSessions, oauth2: oauth2Sessions, compat: compatSessions, personal: personalSessions };
}
