import type { EndedApplicationSessions } from '#domain/oauth-sessions/end-oauth2-session.ts';

export interface EndedSessions extends EndedApplicationSessions {
  readonly browserSessions: number;
  /** Undefined: personal sessions were not included. */
  readonly personalSessions?: number;
}

/** Returns the last output line of commands that ended sessions. */
export function endedSessions(ended: EndedSessions): string {
  const { browserSessions, oauth2Sessions, compatSessions, personalSessions } = ended;
  const personal = personalSessions === undefined ? '' : `, personal sessions: ${personalSessions}`;
  return `ended browser sessions: ${browserSessions}, OAuth sessions: ${oauth2Sessions}, chat client sessions: ${compatSessions}${personal}\n`;
}

/** Returns the same counts for `--json` output. */
export function endedDocument({
  browserSessions,
  oauth2Sessions,
  compatSessions,
  personalSessions = 0,
}: EndedSessions) {
  return { browser: browserSessions, oauth2: oauth2Sessions, compat: compatSessions, personal: personalSessions };
}
