import { recoverySweeps } from '#domain/account-changes/sweeps.ts';
import { accountSweeps } from '#domain/accounts/sweeps.ts';
import { auditEventSweeps } from '#domain/audit/audit-event.ts';
import { authorizationGrantSweeps } from '#domain/authorizations/sweeps.ts';
import { browserSessionSweeps } from '#domain/browser-sessions/sweeps.ts';
import { START, type Sweep, type SweepRow, secondsBefore, sweepOf } from '#domain/clean-up/sweep.ts';
import { clientSweeps } from '#domain/clients/sweeps.ts';
import { compatSessionSweeps } from '#domain/compat-sessions/sweeps.ts';
import { dataExportSweeps } from '#domain/data-exports/sweeps.ts';
import { leaseSweep } from '#domain/homeserver/user-lease.ts';
import { rateLimitSweeps } from '#domain/limits/rate-limits.ts';
import { replayedValueSweeps } from '#domain/limits/replayed-values.ts';
import { expirySweeps } from '#domain/oauth-sessions/expire-sessions.ts';
import { oauth2SessionSweeps, tokenSweeps } from '#domain/oauth-sessions/sweeps.ts';
import { passkeySweeps } from '#domain/passkeys/challenges.ts';
import { personalSessionSweeps } from '#domain/personal-sessions/sweeps.ts';
import { secondFactorSweeps } from '#domain/second-factors/sweeps.ts';
import { statisticsSweeps } from '#domain/statistics/sweeps.ts';
import { upstreamSweeps } from '#domain/upstream/sweeps.ts';
import { deleteFailedJobs } from '#platform/jobs/queue.ts';

const failedJobSweep: Sweep = {
  name: 'cleanup-queue-jobs',
  minute: 55,
  sweep: async (database, now, { failedJobsSeconds }) => {
    const { rows, isLast } = await deleteFailedJobs(database, secondsBefore(now, failedJobsSeconds));
    return { rows, next: isLast ? undefined : START };
  },
};

/** Referencing rows are deleted first. */
const tables: readonly SweepRow[] = [
  ...expirySweeps,
  ...tokenSweeps,
  ...oauth2SessionSweeps,
  ...compatSessionSweeps,
  ...personalSessionSweeps,
  ...secondFactorSweeps,
  ...browserSessionSweeps,
  ...passkeySweeps,
  ...upstreamSweeps,
  ...authorizationGrantSweeps,
  ...clientSweeps,
  ...accountSweeps,
  ...recoverySweeps,
  ...rateLimitSweeps,
  ...replayedValueSweeps,
  ...auditEventSweeps,
  ...statisticsSweeps,
  ...dataExportSweeps,
];

/** All cleanup jobs. */
export const sweeps: readonly Sweep[] = [...tables.map(sweepOf), leaseSweep, failedJobSweep];
