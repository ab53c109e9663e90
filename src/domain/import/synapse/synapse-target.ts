import type { ImportTarget } from '../target.ts';

/** Tables that an import from Synapse fills. */
export const SYNAPSE_IMPORT_TABLES = [
  'users',
  'user_passwords',
  'user_emails',
  'user_unsupported_threepids',
  'upstream_links',
  'compat_sessions',
  'compat_access_tokens',
  'compat_refresh_tokens',
] as const;

export type SynapseImportTarget = ImportTarget<(typeof SYNAPSE_IMPORT_TABLES)[number]>;

/** Deletes what an earlier import left that did not complete. */
export async function deleteFormerImport(target: SynapseImportTarget): Promise<void> {
  await target.query(`truncate ${SYNAPSE_IMPORT_TABLES.filter((table) => table !== 'upstream_links').join(', ')}`);
  // Links without a user belong to unfinished registrations.
  await target.query('delete from upstream_links where user_id is not null');
}
