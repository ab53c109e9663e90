import type { Finding } from '../finding.ts';
import type { ImportSource, SourceKind } from '../source.ts';

export const MAS_SOURCE: SourceKind = {
  expected: 'Matrix Authentication Service',
  advice: 'Set --mas-database-uri to the right database.',
};

/** The newest migration of MAS whose schema is known here. */
const NEWEST_MIGRATION = '20260720134722';

/** Tables and columns that an import reads. */
const READ_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  users: ['user_id', 'username', 'created_at', 'locked_at', 'can_request_admin', 'is_guest', 'deactivated_at'],
  user_emails: ['user_email_id', 'user_id', 'email', 'created_at'],
  user_passwords: ['user_password_id', 'user_id', 'hashed_password', 'version', 'created_at'],
  user_unsupported_third_party_ids: ['user_id', 'medium', 'address', 'created_at'],
  user_terms: ['user_id', 'terms_url', 'created_at'],
  user_registration_tokens: [
    ...['user_registration_token_id', 'token', 'usage_limit', 'times_used', 'created_at', 'last_used_at'],
    ...['expires_at', 'revoked_at'],
  ],
  user_sessions: [
    ...['user_session_id', 'user_id', 'created_at', 'finished_at', 'user_agent', 'last_active_at', 'last_active_ip'],
  ],
  user_session_authentications: [
    ...['user_session_authentication_id', 'user_session_id', 'created_at', 'user_password_id'],
    ...['upstream_oauth_authorization_session_id'],
  ],
  upstream_oauth_providers: [
    'upstream_oauth_provider_id',
    'issuer',
    'human_name',
    'client_id',
    'ui_order',
    'created_at',
  ],
  upstream_oauth_links: [
    ...[
      'upstream_oauth_link_id',
      'upstream_oauth_provider_id',
      'user_id',
      'subject',
      'created_at',
      'human_account_name',
    ],
  ],
  upstream_oauth_authorization_sessions: [
    ...['upstream_oauth_authorization_session_id', 'upstream_oauth_provider_id', 'upstream_oauth_link_id'],
    ...['created_at', 'completed_at', 'consumed_at', 'unlinked_at', 'id_token_claims', 'user_session_id'],
  ],
  oauth2_clients: [
    ...['oauth2_client_id', 'encrypted_client_secret', 'redirect_uris', 'application_type', 'client_name', 'logo_uri'],
    ...['grant_type_authorization_code', 'grant_type_refresh_token', 'grant_type_client_credentials'],
    ...['grant_type_device_code', 'client_uri', 'policy_uri', 'tos_uri', 'jwks', 'jwks_uri', 'created_at', 'is_static'],
    ...['id_token_signed_response_alg', 'userinfo_signed_response_alg', 'token_endpoint_auth_method'],
    ...['token_endpoint_auth_signing_alg'],
  ],
  oauth2_sessions: [
    ...[
      'oauth2_session_id',
      'user_session_id',
      'oauth2_client_id',
      'created_at',
      'finished_at',
      'user_id',
      'scope_list',
    ],
    ...['last_active_at', 'last_active_ip', 'user_agent', 'human_name'],
  ],
  oauth2_access_tokens: [
    ...['oauth2_access_token_id', 'oauth2_session_id', 'access_token', 'created_at', 'expires_at', 'revoked_at'],
    ...['first_used_at'],
  ],
  oauth2_refresh_tokens: [
    ...['oauth2_refresh_token_id', 'oauth2_session_id', 'oauth2_access_token_id', 'refresh_token', 'created_at'],
    ...['consumed_at', 'revoked_at', 'next_oauth2_refresh_token_id'],
  ],
  compat_sessions: [
    ...['compat_session_id', 'user_id', 'device_id', 'created_at', 'finished_at', 'is_synapse_admin', 'last_active_at'],
    ...['last_active_ip', 'user_session_id', 'user_agent', 'human_name'],
  ],
  compat_access_tokens: ['compat_access_token_id', 'compat_session_id', 'access_token', 'created_at', 'expires_at'],
  compat_refresh_tokens: [
    ...['compat_refresh_token_id', 'compat_session_id', 'compat_access_token_id', 'refresh_token', 'created_at'],
    ...['consumed_at'],
  ],
  personal_sessions: [
    ...['personal_session_id', 'owner_user_id', 'owner_oauth2_client_id', 'actor_user_id', 'human_name', 'scope_list'],
    ...['created_at', 'revoked_at', 'last_active_at', 'last_active_ip'],
  ],
  personal_access_tokens: [
    ...[
      'personal_access_token_id',
      'personal_session_id',
      'access_token_sha256',
      'created_at',
      'expires_at',
      'revoked_at',
    ],
  ],
  policy_data: ['policy_data_id', 'data', 'created_at'],
  queue_jobs: ['queue_name', 'status', 'payload'],
  queue_workers: ['last_seen_at', 'shutdown_at'],
};

const EXAMPLES = 5;

/**
 * Returns the problems with the schema of the source. With errors, its data cannot be read.
 * @throws ExitError 1 if the database does not belong to MAS
 */
export async function findingsOfSchema(source: ImportSource): Promise<readonly Finding[]> {
  // Fails in any other database, with a message of the source.
  const migrations = await source.rows<{ version: string; success: boolean }>(
    'select version::text, success from _sqlx_migrations order by version',
  );
  await source.rows('select user_id from users limit 0');
  await source.rows('select compat_session_id from compat_sessions limit 0');
  await source.rows('select oauth2_client_id from oauth2_clients limit 0');
  const wanted = Object.entries(READ_COLUMNS).flatMap(([table, columns]) => columns.map((column) => [table, column]));
  const missing = await source.rows<{ name: string }>(
    `select w.table_name || '.' || w.column_name as name
       from unnest($1::text[], $2::text[]) with ordinality as w (table_name, column_name, place)
      where not exists (select from pg_attribute a
                         where a.attrelid = to_regclass(w.table_name) and a.attname = w.column_name and not a.attisdropped)
      order by w.place`,
    [wanted.map(([table]) => table), wanted.map(([, column]) => column)],
  );
  const newest = migrations.at(-1)?.version ?? 'none';
  if (missing.length > 0) {
    const names = missing.slice(0, EXAMPLES).map(({ name }) => name);
    return [
      {
        severity: 'error',
        code: 'schema_outdated',
        message:
          `the database has the schema of an older MAS (newest migration: ${newest}) without ${names.join(', ')}` +
          `${missing.length > EXAMPLES ? ` and ${missing.length - EXAMPLES} others` : ''}. ` +
          'Update to MAS 1.9 or later, and run "mas-cli database migrate" with it',
      },
    ];
  }
  const failed = migrations.filter(({ success }) => !success);
  return [
    ...(failed.length === 0
      ? []
      : ([
          {
            severity: 'error',
            code: 'schema_incomplete',
            message: `the migration ${failed[0]?.version} of MAS did not complete. Run "mas-cli database migrate"`,
          },
        ] as const)),
    ...(newest > NEWEST_MIGRATION
      ? ([
          {
            severity: 'warning',
            code: 'schema_newer',
            message: `the database has migrations newer than ${NEWEST_MIGRATION} (newest: ${newest}), which this version does not know. Check whether an update of Latchkey does`,
          },
        ] as const)
      : []),
  ];
}
