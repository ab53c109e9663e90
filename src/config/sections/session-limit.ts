import type { z } from 'zod';
import { rule } from '#platform/config/rule.ts';
import { bool, integer, mapping } from '#platform/config/values.ts';

export const sessionLimitSection = rule(
  mapping({
    soft_limit: integer(1)
      .nullable()
      .prefault(null)
      .describe(
        'Sessions from which on the consent and device pages ask people to end some first. A sign-in that takes the place of the same device is not counted. `null`: no limit.',
      ),
    hard_limit: integer(1)
      .nullable()
      .prefault(null)
      .describe(
        'Sessions from which on chat clients cannot sign in with a password or a login token. At least `soft_limit`. `null`: no limit.',
      ),
    max_session_threshold: integer(1)
      .nullable()
      .prefault(null)
      .describe('People who have more sessions than this are not limited. At least both limits.'),
    dangerous_hard_limit_eviction: bool()
      .prefault(false)
      .describe(
        'In place of a refusal at `hard_limit`, the sessions that chat clients used least lately end. People lose what only those devices had, such as keys of encrypted messages.',
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
      problem(['max_session_threshold'], 'says nothing without soft_limit or hard_limit');
    } else if (max_session_threshold < Math.max(soft_limit ?? 0, hard_limit ?? 0)) {
      problem(['max_session_threshold'], 'must not be less than a limit: nobody would be limited by it');
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
