/**
 * SQL conditions for clients that may be used. A disabled client is treated as unknown everywhere. A decision based on
 * a cached client is valid only while the client has the cached version.
 */
import { toUuid } from '#platform/base/ids.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';

/** @param client alias of `oauth2_clients` */
export function clientIsEnabled(client: string): string {
  return `${client}.disabled_at is null`;
}

/**
 * The client is kept although nobody uses it: it does not register itself, or was imported from a server that keeps
 * unused clients.
 * @param client alias of `oauth2_clients`
 */
export function clientIsKept(client: string): string {
  return `(${client}.is_static or ${client}.kind is not null or ${client}.metadata ? 'imported_from')`;
}

const ADMIN_AREA_UUID = toUuid(ADMIN_AREA_CLIENT_ID);

/**
 * Sessions of this client count as applications of the user. Those of the admin area do not: they belong to the browser
 * session. Compares with a constant, so that counting needs no join.
 * @param id expression of type `uuid`
 */
export function clientIsApplication(id: string): string {
  return `${id} <> '${ADMIN_AREA_UUID}'`;
}

/** The client is part of the service. @param client alias of `oauth2_clients` */
export function clientIsBuiltin(client: string): string {
  return `(${client}.kind is not distinct from 'builtin')`;
}

/**
 * An operator or administrator set the client up, and therefore trusts it.
 * @param client alias of `oauth2_clients`
 */
export function clientIsVouchedFor(client: string): string {
  return `(${client}.is_static or ${client}.kind is not distinct from 'managed')`;
}

/**
 * @param client alias of `oauth2_clients`
 * @param version parameter with the cached version, an `integer`
 */
export function clientIsCurrent(client: string, version: string): string {
  return `(${client}.version = ${version} and ${clientIsEnabled(client)})`;
}

/**
 * Like `clientIsCurrent`, for a statement that does not read the client otherwise. Uses the primary key.
 * @param id expression or parameter of type `uuid`
 */
export function clientWithIdIsCurrent(id: string, version: string): string {
  return `exists (
    select from oauth2_clients cached where cached.id = ${id} and ${clientIsCurrent('cached', version)}
  )`;
}

/**
 * Whether a user may use a client: members of its allowed groups, and everyone if it has no limit. Only a client with a
 * limit costs a look-up.
 * @param client alias of `oauth2_clients`
 * @param user alias of `users`, or of a query that returns `id` and `groups`
 */
export function clientAdmits(client: string, user: string): string {
  return `(case when ${client}.allowed_groups is null then true
    else user_may_use_client(${user}.id, ${user}.groups, ${client}.allowed_groups) end)`;
}

/** `clientIsCurrent` and `clientAdmits`, for a statement that does not read the client otherwise. Uses the primary key. */
export function clientWithIdIsCurrentAndAdmits(id: string, version: string, user: string): string {
  return `exists (
    select from oauth2_clients cached, ${user}
     where cached.id = ${id} and ${clientIsCurrent('cached', version)} and ${clientAdmits('cached', user)}
  )`;
}

/**
 * Returns `clientAdmits` as an expression for statements that read what a client presents. Null: the cached record of
 * the client is outdated. Reads the client once for both answers.
 */
export function admissionByClient(id: string, version: string, user: string): string {
  return `(select ${clientAdmits('cached', user)} from oauth2_clients cached
            where cached.id = ${id} and ${clientIsCurrent('cached', version)})`;
}

/** The same for the client that introspects a token. The homeserver has no record: its `:callerId` is null. */
export const CALLER_IS_CURRENT = `:callerId::uuid is null or ${clientWithIdIsCurrent(':callerId::uuid', ':callerVersion::integer')}`;
