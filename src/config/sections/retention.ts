import type { z } from 'zod';
import { duration, type Immutable, mapping } from '#platform/config/values.ts';

const MAX_RETENTION = '1095d';
const MAX_CODE_TTL_SECONDS = 600;

export const retentionSection = mapping({
  revoked_tokens: duration('5m', MAX_RETENTION)
    .prefault('1h')
    .describe('Access tokens after they were revoked, refresh tokens after they were used or revoked.'),
  expired_tokens: duration('1h', MAX_RETENTION).prefault('24h').describe('Access tokens after they expired.'),
  finished_sessions: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('Sessions after they ended, with their tokens.'),
  inactive_ips: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('The address that a session was last active from; the session stays.'),
  pending_flows: duration('1h', MAX_RETENTION)
    .prefault('7d')
    .describe('Authorization requests after they were made, whatever became of them.'),
  registrations: duration('1d', MAX_RETENTION)
    .prefault('30d')
    .describe('Completed registrations after they began. Those never completed go after a day.'),
});

/** How long rows are kept after they are over (operations 6.4). */
export type RetentionConfig = Immutable<ReturnType<typeof retentionConfig>>;

/** @param others what other sections say about it */
export function retentionConfig(
  parsed: z.output<typeof retentionSection>,
  others: {
    /** `account.activity_retention` */
    readonly activitySeconds: number;
    readonly authorizationGrantTtlSeconds: number;
    readonly unusedClientsSeconds: number;
  },
) {
  return {
    revokedTokensSeconds: parsed.revoked_tokens,
    expiredTokensSeconds: parsed.expired_tokens,
    finishedSessionsSeconds: parsed.finished_sessions,
    inactiveIpsSeconds: parsed.inactive_ips,
    // A request must not vanish while a person may still answer it, nor while its code is good.
    pendingFlowsSeconds: Math.max(parsed.pending_flows, others.authorizationGrantTtlSeconds + MAX_CODE_TTL_SECONDS),
    registrationsSeconds: parsed.registrations,
    activitySeconds: others.activitySeconds,
    unusedClientsSeconds: others.unusedClientsSeconds,
  };
}
