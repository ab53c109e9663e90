/** All columns with values encrypted under the root key. A test compares them with the schema. */
import { fromUuid } from '#platform/base/ids.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Values that one batch examines (operations 3.12). */
export const BATCH_ROWS = 500;

interface SealedRow {
  /** The primary key. */
  readonly key: string;
  readonly sealed: Buffer;
}

export const SEALED_FIELDS = [
  sealedField('oauth2_clients', 'client_secret_sealed', 'client_secret'),
  sealedField('oauth2_clients', 'former_secret_sealed', 'former_secret'),
  sealedField('oauth2_device_code_grants', 'user_code_sealed', 'user_code'),
  sealedField('user_registration_tokens', 'token_sealed', 'token_sealed'),
  sealedField('upstream_authorizations', 'secrets_sealed', 'secrets'),
  sealedField('upstream_authorizations', 'answer_sealed', 'answer'),
  sealedField('user_pending_logins', 'setup_sealed', 'setup_sealed'),
  sealedField('user_totp_secrets', 'secret_sealed', 'secret_sealed'),
  sealedField('user_totp_enrolments', 'secret_sealed', 'secret_sealed'),
  sealedField('secret_keys', 'key_sealed', 'key_sealed', 'purpose'),
];

export type SealedField = ReturnType<typeof sealedField>;

/** @param boundAs column name that the owning module uses in the associated data */
function sealedField(table: string, column: string, boundAs: string, key: 'id' | 'purpose' = 'id') {
  const type = key === 'id' ? 'uuid' : 'text';
  const name = `${table}.${column}`;
  return {
    name,
    table,
    column,
    /** Sorts before every key. */
    start: key === 'id' ? '00000000-0000-0000-0000-000000000000' : '',
    associatedData: (row: string) => `${table}|${boundAs}|${key === 'id' ? fromUuid(row) : row}`,
    /** Reads in primary key order. */
    read: statement<SealedRow, { readonly after: string }>(
      `sealed-values-${name}`,
      `select ${key}::text as key, ${column} as sealed from ${table}
        where ${key} > :after::${type} and ${column} is not null
        order by ${table}.${key} limit ${BATCH_ROWS}`,
    ),
    /** Skips values that changed after they were read, because the change has encrypted them. */
    write: statement<
      never,
      { readonly keys: readonly string[]; readonly before: readonly Buffer[]; readonly sealed: readonly Buffer[] }
    >(
      `reseal-values-${name}`,
      `update ${table} t set ${column} = resealed.value
         from unnest(:keys::${type}[], :before::bytea[], :sealed::bytea[]) as resealed (key, before, value)
        where t.${key} = resealed.key and t.${column} = resealed.before`,
    ),
  };
}
