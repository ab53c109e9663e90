import type { z } from 'zod';
import { duration, mapping } from '#platform/config/schema/values.ts';
import type { RetentionConfig } from '../config.ts';

const LONGEST = '1095d';

export const retentionSection = mapping({
  revoked_tokens: duration('5m', LONGEST)
    .prefault('1h')
    .describe('Access tokens after they were revoked, refresh tokens after they were used or revoked.'),
  expired_tokens: duration('1h', LONGEST).prefault('24h').describe('Access tokens after they expired.'),
  finished_sessions: duration('1d', LONGEST).prefault('30d').describe('Sessions after they ended, with their tokens.'),
  inactive_ips: duration('1d', LONGEST)
    .prefault('30d')
    .describe('The address that a session was last active from; the session stays.'),
  pending_flows: duration('1h', LONGEST)
    .prefault('7d')
    .describe('Authorization requests after they were made, whatever became of them.'),
  registrations: duration('1d', LONGEST)
    .prefault('30d')
    .describe('Completed registrations after they began. Those never completed go after a day.'),
});

/** @param activitySeconds `account.activity_retention` */
export function retentionConfig(
  parsed: z.output<typeof retentionSection>,
  activitySeconds: number,
  authorizationGrantTtlSeconds: number,
): RetentionConfig {
  return {
    revokedTokensSeconds: parsed.revoked_tokens,
    expiredTokensSeconds: parsed.expired_tokens,
    finishedSessionsSeconds: parsed.finished_sessions,
    inactiveIpsSeconds: parsed.inactive_ips,
    // A request must not vanish while a person may still answer it, nor while its code is good.
    pendingFlowsSeconds: Math.max(parsed.pending_flows, authorizationGrantTtlSeconds + MAX_CODE_TTL_SECONDS),
    registrationsSeconds: parsed.registrations,
    activitySeconds,
  };
}

const MAX_CODE_TTL_SECONDS = 600;
