/**
 * When a client may be used, as conditions for statements. A disabled client is unknown everywhere. What a cached
 * record of a client allowed holds only while the client has the version of that record.
 */

/** @param client alias of `oauth2_clients` */
export function clientIsEnabled(client: string): string {
  return `${client}.disabled_at is null`;
}

/**
 * @param client alias of `oauth2_clients`
 * @param version parameter with the version of the cached record, an `integer`
 */
export function clientIsCurrent(client: string, version: string): string {
  return `(${client}.version = ${version} and ${clientIsEnabled(client)})`;
}

/**
 * The same for a statement that does not read the client otherwise; by primary key.
 * @param id expression or parameter of type `uuid`
 */
export function clientWithIdIsCurrent(id: string, version: string): string {
  return `exists (
    select from oauth2_clients cached where cached.id = ${id} and ${clientIsCurrent('cached', version)}
  )`;
}
