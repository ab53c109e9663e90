/**
 * Imports accounts, passwords, email addresses, identities, devices and tokens from a Synapse on PostgreSQL (operations
 * 3.9). Owns no table: it fills tables of the modules for accounts, upstream links and chat client sessions. It imports
 * everything or nothing, and no other process can use the tables during the import.
 */

import type { Clock } from '#platform/base/clock.ts';
import { DELETE_INCOMPLETE_IMPORT } from '../incomplete-import.ts';
import type { EntityProgress } from '../progress.ts';
import type { ImportSource } from '../source.ts';
import { devicesOfTokensStep, devicesStep } from './devices.ts';
import type { EntityName, ImportContext, ImportStep, SkipReason } from './entity.ts';
import { deleteFormerImport, type SynapseImportTarget } from './synapse-target.ts';
import { thirdPartyIdsStep } from './third-party-ids.ts';
import { accessTokensStep, refreshTokensStep } from './tokens.ts';
import { upstreamLinksStep } from './upstream-links.ts';
import { usersStep } from './users.ts';

export interface ImportDeps {
  readonly source: ImportSource;
  readonly target: SynapseImportTarget;
  readonly clock: Clock;
  /** Called after each batch, and when the import continues with another kind of data. */
  onProgress(progress: SynapseProgress): void;
  /** Awaited once no other process can write. */
  onBegun(): Promise<void>;
}

export interface ImportPlan {
  /** The server name at the end of user IDs. */
  readonly serverName: string;
  /** `uuid`s of configured providers by their names in Synapse. */
  readonly providers: ReadonlyMap<string, string>;
  /** Whether to delete what an earlier import left. */
  readonly empties: boolean;
  /** False for a dry run, which keeps nothing. */
  readonly keeps: boolean;
}

export type SynapseProgress = EntityProgress<EntityName, SkipReason>;

/** @returns the result for each kind of data, in the order of the import */
export async function importEverything(deps: ImportDeps, plan: ImportPlan): Promise<readonly SynapseProgress[]> {
  const { target, clock } = deps;
  await target.begin();
  if (plan.empties) await deleteFormerImport(target);
  else await target.requireNoUsers();
  await deps.onBegun();
  const context = { target, suffix: `:${plan.serverName}`, now: clock.now(), providers: plan.providers };
  const results = [
    await copy(deps, context, usersStep),
    await copy(deps, context, thirdPartyIdsStep),
    await copy(deps, context, upstreamLinksStep),
    await copy(deps, context, devicesStep),
    await copy(deps, context, devicesOfTokensStep),
    await copy(deps, context, accessTokensStep),
    await copy(deps, context, refreshTokensStep),
  ];
  if (plan.keeps) await target.execute(DELETE_INCOMPLETE_IMPORT, []);
  await target.finish(plan.keeps);
  // The database is as empty as required.
  if (!plan.keeps) await target.execute(DELETE_INCOMPLETE_IMPORT, []);
  return results;
}

async function copy<Row extends object>(
  { source, onProgress }: ImportDeps,
  context: ImportContext,
  step: ImportStep<Row>,
): Promise<SynapseProgress> {
  const { entity } = step;
  const estimate = await source.estimatedRows(step.tables);
  let progress: SynapseProgress = { entity, done: 0, skipped: {}, estimate };
  onProgress(progress);
  for await (const rows of source.batches<Row>(step.source)) {
    const { done, skipped } = await step.load(context, rows);
    const counted = Object.entries({ ...skipped }).filter(([, count]) => count > 0);
    const sums = Object.fromEntries(counted.map(([reason, count]) => [reason, count + skippedFor(progress, reason)]));
    progress = { ...progress, done: progress.done + done, skipped: { ...progress.skipped, ...sums } };
    onProgress(progress);
  }
  await step.end?.(context);
  return progress;
}

function skippedFor({ skipped }: SynapseProgress, reason: string): number {
  return Object.entries(skipped).find(([name]) => name === reason)?.[1] ?? 0;
}
