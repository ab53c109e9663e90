/** Sign-in methods that an account can currently use (account-graphql 7.3). */

import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

export type LoginMethod = 'password' | 'upstream' | 'passkey';

/** Methods that the operator has enabled. The fragments below expect them as parameters. */
export type EnabledMethods = {
  readonly isPasswordEnabled: boolean;
  readonly isPasskeyEnabled: boolean;
};

/** A password is not usable if the operator has disabled passwords. Expects `:isPasswordEnabled`. */
export function hasUsablePassword(user: string): string {
  return `(:isPasswordEnabled::boolean and exists (select from user_passwords secret where secret.user_id = ${user}))`;
}

/**
 * A link to an enabled provider. Uses index `upstream_links_user`.
 * @param user SQL of the account's ID
 * @param condition on `way`, a row of `upstream_links`
 */
export function hasUsableLink(user: string, condition = 'true'): string {
  return `exists (
    select from upstream_links way join upstream_providers door on door.id = way.provider_id
     where way.user_id = ${user} and ${providerIsEnabled('door')} and ${condition}
  )`;
}

/**
 * Expects `:isPasskeyEnabled`. Uses index `user_passkeys_user`.
 * @param user SQL of the account's ID
 * @param condition on `device`, a row of `user_passkeys`
 */
export function hasUsablePasskey(user: string, condition = 'true'): string {
  return `(:isPasskeyEnabled::boolean and exists (
    select from user_passkeys device where device.user_id = ${user} and ${condition}
  ))`;
}

/** The owner can sign in without a provider. Expects `:isPasswordEnabled` and `:isPasskeyEnabled`. */
export function hasCredential(user: string): string {
  return `(${hasUsablePassword(user)} or ${hasUsablePasskey(user)})`;
}

const ofUsers = statement<
  { id: string; has_password: boolean; has_link: boolean; has_passkey: boolean },
  EnabledMethods & { readonly ids: readonly string[] }
>(
  'login-methods-of-users',
  `select u.id, ${hasUsablePassword('u.id')} as has_password, ${hasUsableLink('u.id')} as has_link,
          ${hasUsablePasskey('u.id')} as has_passkey
     from users u where u.id = any(:ids::uuid[])`,
);

/** Returns the methods of each of these accounts, in the same order. */
export async function findLoginMethods(
  queryable: Queryable,
  ids: readonly UserId[],
  enabled: EnabledMethods,
): Promise<(readonly LoginMethod[])[]> {
  const rows = await queryable.rows(ofUsers, { ids: ids.map(toUuid), ...enabled });
  const found = new Map(
    rows.map((row): [UserId, LoginMethod[]] => [
      fromUuid(row.id),
      [
        ...(row.has_password ? (['password'] as const) : []),
        ...(row.has_link ? (['upstream'] as const) : []),
        ...(row.has_passkey ? (['passkey'] as const) : []),
      ],
    ]),
  );
  return ids.map((id) => found.get(id) ?? []);
}
