import { accountSweeps } from '#domain/accounts/sweeps.ts';
import { auditEventSweeps } from '#domain/audit/audit-event.ts';
import { authorizationGrantSweeps } from '#domain/authorizations/sweeps.ts';
import { browserSessionSweeps } from '#domain/browser-sessions/sweeps.ts';
import type { Sweep } from '#domain/clean-up/sweep.ts';
import { clientSweeps } from '#domain/clients/sweeps.ts';
import { oauth2SessionSweeps, tokenSweeps } from '#domain/oauth-sessions/sweeps.ts';
import { rateLimitSweeps } from '#domain/rate-limits/rate-limits.ts';
import { replayedValueSweeps } from '#domain/replayed-values/replayed-values.ts';

/** Everything that is cleaned up, what refers to others first. */
export const sweeps: readonly Sweep[] = [
  ...tokenSweeps,
  ...oauth2SessionSweeps,
  ...browserSessionSweeps,
  ...authorizationGrantSweeps,
  ...clientSweeps,
  ...accountSweeps,
  ...rateLimitSweeps,
  ...replayedValueSweeps,
  ...auditEventSweeps,
];
