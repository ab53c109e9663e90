/**
 * Imports everything that matters from the database of Matrix Authentication Service (operations 3.9). Rows keep their
 * IDs, and tokens keep working. Owns no table: it fills those of other modules. It imports everything or nothing, and no
 * other process can use the tables during the import.
 */
import type { Clock } from '#platform/base/clock.ts';
import { DELETE_INCOMPLETE_IMPORT } from '../incomplete-import.ts';
import type { EntityProgress } from '../progress.ts';
import { browserSessionsStep, upstreamSessionsStep } from './browser-sessions.ts';
import { clientsStep } from './clients.ts';
import { compatAccessTokensStep, compatRefreshTokensStep, compatSessionsStep } from './compat-sessions.ts';
import { emailAddressesStep, termsStep, thirdPartyIdsStep } from './email-addresses.ts';
import type { MasEntity, MasImport, MasOutcome, MasSkipReason, MasStep } from './mas-import.ts';
import { oauthAccessTokensStep, oauthRefreshTokensStep, oauthSessionsStep } from './oauth-sessions.ts';
import { openJobsStep, stageOpenJobs } from './open-jobs.ts';
import { personalSessionsStep, personalTokensStep } from './personal-sessions.ts';
import { policyDataStep } from './policy-data.ts';
import { registrationTokensStep } from './registration-tokens.ts';
import { upstreamLinksStep, upstreamProvidersStep } from './upstream-links.ts';
import { passwordsStep, usersStep } from './users.ts';

export type MasProgress = EntityProgress<MasEntity, MasSkipReason>;

export interface MasImportDeps extends Omit<MasImport, 'now'> {
  readonly clock: Clock;
  onProgress(progress: MasProgress): void;
  /** Awaited once no other process can write. */
  onBegun(): Promise<void>;
}

/** In the order of references between tables. */
const STEPS: readonly MasStep[] = [
  usersStep,
  passwordsStep,
  emailAddressesStep,
  thirdPartyIdsStep,
  termsStep,
  registrationTokensStep,
  upstreamProvidersStep,
  upstreamLinksStep,
  clientsStep,
  browserSessionsStep,
  upstreamSessionsStep,
  oauthSessionsStep,
  oauthAccessTokensStep,
  oauthRefreshTokensStep,
  compatSessionsStep,
  compatAccessTokensStep,
  compatRefreshTokensStep,
  personalSessionsStep,
  personalTokensStep,
  policyDataStep,
  openJobsStep,
];

/**
 * @param keeps false for a dry run, which keeps nothing
 * @returns the result for each kind of data, in the order of the import
 */
export async function importFromMas(deps: MasImportDeps, keeps: boolean): Promise<readonly MasProgress[]> {
  const { target, clock } = deps;
  await target.begin();
  await target.requireNoUsers();
  await deps.onBegun();
  const context: MasImport = { ...deps, now: new Date(clock.now()) };
  await stageOpenJobs(context);
  const results: MasProgress[] = [];
  for (const step of STEPS) {
    const { entity } = step;
    const estimate = await deps.source.estimatedRows(step.tables);
    deps.onProgress({ entity, done: 0, skipped: {}, estimate });
    const { done, skipped } = await step.run(context);
    const progress = { entity, done, skipped: withoutZeros(skipped), estimate };
    deps.onProgress(progress);
    results.push(progress);
  }
  if (keeps) await target.execute(DELETE_INCOMPLETE_IMPORT, []);
  await target.finish(keeps);
  // The database is as empty as required.
  if (!keeps) await target.execute(DELETE_INCOMPLETE_IMPORT, []);
  return results;
}

function withoutZeros(skipped: MasOutcome['skipped']): MasOutcome['skipped'] {
  return Object.fromEntries(Object.entries(skipped).filter(([, count]) => count > 0));
}
