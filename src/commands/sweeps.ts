import { auditEventSweeps } from '#domain/audit-events/sweeps.ts';
import { authorizationGrantSweeps } from '#domain/authorization-grants/sweeps.ts';
import { browserSessionSweeps } from '#domain/browser-sessions/sweeps.ts';
import { oauth2SessionSweeps } from '#domain/oauth2-sessions/sweeps.ts';
import { loginFailureSweeps } from '#domain/passwords/sweeps.ts';
import { rateLimitSweeps } from '#domain/rate-limits/sweeps.ts';
import { registrationSweeps } from '#domain/registrations/sweeps.ts';
import { tokenSweeps } from '#domain/tokens/sweeps.ts';
import type { Sweep } from '#jobs/sweep.ts';

/** Everything that is cleaned up, what refers to others first. */
export const sweeps: readonly Sweep[] = [
  ...tokenSweeps,
  ...oauth2SessionSweeps,
  ...browserSessionSweeps,
  ...authorizationGrantSweeps,
  ...registrationSweeps,
  ...loginFailureSweeps,
  ...rateLimitSweeps,
  ...auditEventSweeps,
];
