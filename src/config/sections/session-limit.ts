import type { z } from 'zod';
import { rule } from '#platform/config/rule.ts';
import { bool, integer, mapping } from '#platform/config/values.ts';

export const sessionLimitSection = rule(
  mapping({
    soft_limit: integer(1)
      .nullable()
      .prefault(null)
      .describe(
        'Number of sessions at which the consent and device pages require users to end some first. Signing ' +
          'in on the same device does not count. `null`: no limit.',
      ),
    hard_limit: integer(1)
      .nullable()
      .prefault(null)
      .describe(
        'Number of sessions at which chat clients cannot sign in with a password or a login token. At least ' +
          '`soft_limit`. `null`: no limit.',
      ),
    max_session_threshold: integer(1)
      .nullable()
      .prefault(null)
      .describe('Users with more sessions than this are exempt. Must not be less than either limit.'),
    dangerous_hard_limit_eviction: bool()
      .prefault(false)
      .describe(
        'At `hard_limit`, ends the least recently used sessions of chat clients instead of refusing the ' +
          'sign-in. Users lose data that only those devices had, including keys of encrypted messages.',
      ),
  }),
  ['soft_limit', 'hard_limit', 'max_session_threshold', 'dangerous_hard_limit_eviction'],
  ({ soft_limit, hard_limit, max_session_threshold, dangerous_hard_limit_eviction }, problem) => {
    if (soft_limit !== null && hard_limit !== null && hard_limit < soft_limit) {
      problem(['hard_limit'], 'must not be less than soft_limit');
    }
    if (dangerous_hard_limit_eviction && (hard_limit ?? 0) < 2) {
      problem(['dangerous_hard_limit_eviction'], 'needs a hard_limit of 2 or more');
    }
    if (max_session_threshold === null) return;
    if (soft_limit === null && hard_limit === null) {
      problem(['max_session_threshold'], 'has no effect without soft_limit or hard_limit');
    } else if (max_session_threshold < Math.max(soft_limit ?? 0, hard_limit ?? 0)) {
      problem(['max_session_threshold'], 'must not be less than a limit, which would then never apply');
    }
  },
);

export function sessionLimitConfig(parsed: z.output<typeof sessionLimitSection>) {
  if (parsed.soft_limit === null && parsed.hard_limit === null) return undefined;
  return {
    softLimit: parsed.soft_limit ?? undefined,
    hardLimit: parsed.hard_limit ?? undefined,
    maxSessionThreshold: parsed.max_session_threshold ?? undefined,
    evictsAtHardLimit: parsed.dangerous_hard_limit_eviction,
  };
}
