import { clientMembers } from '#config/sections/clients.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type JsonObject, mergePatch } from '#protocol/json-merge-patch.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import type { ClientOverrides } from '../client.ts';
import { differingNames } from '../client-properties.ts';

const overridable = clientMembers.pick({ client_name: true, logo_uri: true });

export type WantedOverrides =
  | { readonly ok: true; readonly overrides: ClientOverrides }
  | {
      readonly ok: false;
      readonly reason: 'invalid';
      readonly problem: { readonly path: readonly PropertyKey[]; readonly message: string };
    }
  /** Only managed clients have this property. */
  | { readonly ok: false; readonly reason: 'dynamic'; readonly member: string };

/** Applies a merge patch (RFC 7396) to the overrides of a dynamic client. Null shows the client's own value again. */
export function overriddenBy(former: ClientOverrides | null, patch: JsonObject): WantedOverrides {
  const member = Object.keys(patch).find((name) => !(name in overridable.shape));
  if (member !== undefined) return { ok: false, reason: 'dynamic', member };
  const parsed = overridable.safeParse(mergePatch({ ...former }, patch));
  if (parsed.success) {
    const { client_name, logo_uri } = parsed.data;
    return {
      ok: true,
      overrides: { ...(client_name !== undefined && { client_name }), ...(logo_uri !== undefined && { logo_uri }) },
    };
  }
  const [issue] = parsed.error.issues;
  return {
    ok: false,
    reason: 'invalid',
    problem: { path: issue?.path ?? [], message: issue?.message ?? 'cannot be parsed' },
  };
}

interface OverrideChange {
  readonly former: ClientOverrides | null;
  readonly wanted: ClientOverrides;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Stores what users see about a locked dynamic client. Consents stay: they were given to the same client.
 * @returns names of the changed properties
 */
export async function overrideClient(
  transaction: Transaction,
  id: ClientId,
  { former, wanted, now }: OverrideChange,
): Promise<string[]> {
  const changed = differingNames({ ...former }, { ...wanted });
  if (changed.length === 0) return [];
  const overrides = Object.keys(wanted).length === 0 ? null : JSON.stringify(wanted);
  await transaction.execute(storeOverrides, { id: toUuid(id), overrides, now: new Date(now) });
  return changed;
}

const storeOverrides = statement<never, { readonly id: string; readonly overrides: string | null; readonly now: Date }>(
  'override-client',
  `update oauth2_clients
      set version = version + 1,
          overrides = :overrides::jsonb,
          updated_at = :now::timestamptz
    where id = :id::uuid`,
);
