import type { z } from 'zod';
import { bool, duration, type Immutable, mapping } from '#platform/config/values.ts';

const MAX_RETENTION = '1095d';
const MAX_CODE_TTL_SECONDS = 600;

export const retentionSection = mapping({
  revoked_tokens: duration('5m', MAX_RETENTION)
    .prefault('1h')
    .describe('Revoked access tokens, and used or revoked refresh tokens.'),
  expired_tokens: duration('1h', MAX_RETENTION).prefault('24h').describe('Expired access tokens.'),
  finished_sessions: duration('1d', MAX_RETENTION).prefault('30d').describe('Ended sessions, with their tokens.'),
  inactive_ips: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('Last client address of a session; the session itself is kept.'),
  pending_flows: duration('1h', MAX_RETENTION)
    .prefault('7d')
    .describe(
      'Authorization requests, recoveries and email verifications, from creation and regardless of their result.',
    ),
  registrations: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('Completed registrations, from their start. Abandoned ones are deleted after a day.'),
  registration_tokens: duration('1d', MAX_RETENTION)
    .prefault('90d')
    .describe('Registration tokens that are used up, expired or revoked.'),
  upstream_sessions: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('Sign-ins with sign-in providers, from their start, unless the resulting browser session still exists.'),
  audit_events: duration('1d', MAX_RETENTION)
    .prefault('365d')
    .describe(
      'Audit events: security events of accounts and changes by administrators. At least `account.activity_retention`.',
    ),
  jobs: duration('1d', MAX_RETENTION)
    .prefault('90d')
    .describe('Failed background jobs. Completed jobs are deleted immediately.'),
});

export const inactiveSessionSection = mapping({
  ttl: duration('10m', '90d')
    .nullable()
    .prefault(null)
    .describe('Time after which an unused session is ended, within a further 15 minutes. `null`: never.'),
  expire_compat_sessions: bool()
    .prefault(true)
    .describe('Sessions of chat clients that signed in through the routes of their own protocol.'),
  expire_oauth_sessions: bool()
    .prefault(true)
    .describe('Sessions of users at dynamically registered clients; those of other clients do not end this way.'),
  expire_user_sessions: bool().prefault(true).describe('Browser sessions.'),
});

/** How long expired rows are kept (operations 6.4), and when sessions expire. */
export type RetentionConfig = Immutable<ReturnType<typeof retentionConfig>>;

/** @param others related settings of other sections */
export function retentionConfig(
  parsed: z.output<typeof retentionSection>,
  others: {
    /** `account.activity_retention` */
    readonly activitySeconds: number;
    readonly authorizationGrantTtlSeconds: number;
    readonly recoverySessionTtlSeconds: number;
    readonly registrationTtlSeconds: number;
    readonly unusedClientsSeconds: number;
    /** `oauth.session_max_lifetime`; undefined: none. */
    readonly sessionMaxLifetimeSeconds: number | undefined;
  } & UnusedSessions,
) {
  return {
    revokedTokensSeconds: parsed.revoked_tokens,
    expiredTokensSeconds: parsed.expired_tokens,
    finishedSessionsSeconds: parsed.finished_sessions,
    inactiveIpsSeconds: parsed.inactive_ips,
    // A request is kept while the user can still complete it or its code is valid. The email address of a registration
    // is kept at least as long.
    pendingFlowsSeconds: Math.max(
      parsed.pending_flows,
      others.authorizationGrantTtlSeconds + MAX_CODE_TTL_SECONDS,
      others.recoverySessionTtlSeconds,
      others.registrationTtlSeconds,
    ),
    registrationsSeconds: parsed.registrations,
    registrationTokensSeconds: parsed.registration_tokens,
    upstreamSessionsSeconds: parsed.upstream_sessions,
    failedJobsSeconds: parsed.jobs,
    activitySeconds: others.activitySeconds,
    auditEventsSeconds: Math.max(parsed.audit_events, others.activitySeconds),
    unusedClientsSeconds: others.unusedClientsSeconds,
    sessionMaxLifetimeSeconds: others.sessionMaxLifetimeSeconds,
    unusedOAuth2SessionsSeconds: others.unusedOAuth2SessionsSeconds,
    unusedBrowserSessionsSeconds: others.unusedBrowserSessionsSeconds,
    unusedCompatSessionsSeconds: others.unusedCompatSessionsSeconds,
  };
}

/** How long sessions may stay unused; undefined: without limit. */
interface UnusedSessions {
  readonly unusedOAuth2SessionsSeconds: number | undefined;
  readonly unusedBrowserSessionsSeconds: number | undefined;
  readonly unusedCompatSessionsSeconds: number | undefined;
}

export function unusedSessions(parsed: z.output<typeof inactiveSessionSection>): UnusedSessions {
  const seconds = parsed.ttl ?? undefined;
  return {
    unusedOAuth2SessionsSeconds: parsed.expire_oauth_sessions ? seconds : undefined,
    unusedBrowserSessionsSeconds: parsed.expire_user_sessions ? seconds : undefined,
    unusedCompatSessionsSeconds: parsed.expire_compat_sessions ? seconds : undefined,
  };
}
