/**
 * Finds statements that change a table outside of the module that owns it. Other modules must use operations and
 * fragments of the owner, or be listed below. Reads the SQL text of the product, without comments and tests.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Folders below `src/` with the tables that they own. Every table of `migrations/schema.sql` has an owner. */
const OWNED = {
  'domain/accounts': [
    'login_failures',
    'user_email_authentications',
    'user_emails',
    'user_groups',
    'user_passwords',
    'user_registration_token_uses',
    'user_registration_tokens',
    'user_registrations',
    'user_terms',
    'user_unsupported_threepids',
    'users',
  ],
  'domain/audit': ['audit_events'],
  'domain/authorizations': ['oauth2_authorization_grants', 'oauth2_device_code_grants', 'oauth2_pushed_requests'],
  'domain/browser-sessions': ['imported_browser_sessions', 'user_session_authentications', 'user_sessions'],
  'domain/clients': ['oauth2_clients', 'oauth2_consents'],
  'domain/data-exports': ['data_exports'],
  'domain/homeserver': ['homeserver_leases'],
  'domain/compat-sessions': ['compat_access_tokens', 'compat_refresh_tokens', 'compat_sessions', 'compat_sso_logins'],
  'domain/keys': ['secret_keys', 'server_state'],
  'domain/limits': ['rate_limits', 'replayed_values'],
  'domain/oauth-sessions': ['oauth2_access_tokens', 'oauth2_refresh_tokens', 'oauth2_sessions'],
  'domain/passkeys': ['user_passkey_offers', 'user_passkeys', 'webauthn_challenges'],
  'domain/second-factors': [
    'user_pending_logins',
    'user_recovery_codes',
    'user_totp_enrolments',
    'user_totp_secrets',
    'user_trusted_browsers',
  ],
  'domain/personal-sessions': ['personal_access_tokens', 'personal_sessions'],
  'domain/account-changes': ['user_recovery_sessions', 'user_recovery_tickets'],
  'domain/policy': ['policy_data'],
  'domain/upstream': ['upstream_authorizations', 'upstream_links', 'upstream_providers'],
  'domain/statistics': ['statistics_buckets', 'statistics_counters', 'statistics_progress', 'user_active_days'],
  'platform/jobs': ['queue_jobs', 'queue_workers'],
  'platform/postgres/migrator': ['schema_migrations'],
};

/** A table whose name is computed. */
const COMPUTED = '(computed)';

const IMPORTS = 'the people of a homeserver come in bulk, while nothing else uses the tables';

const ENDINGS = 'a statement that ends sessions ends those of applications and of chat clients together';

/** Code that may change a table of another module, or a table passed as a parameter. Each must occur. */
const EXCEPTIONS = [
  {
    folder: 'domain/oauth-sessions',
    table: 'oauth2_authorization_grants',
    reason: 'redeeming a code consumes its grant and opens the session in one statement',
  },
  {
    folder: 'domain/oauth-sessions',
    table: 'oauth2_device_code_grants',
    reason: 'redeeming a device code consumes its grant and opens the session in one statement',
  },
  { folder: 'domain/oauth-sessions', table: 'compat_sessions', reason: ENDINGS },
  { folder: 'domain/oauth-sessions', table: 'compat_refresh_tokens', reason: ENDINGS },
  {
    folder: 'domain/activity',
    table: COMPUTED,
    reason: 'last uses of sessions of every kind are written in batches, by one statement for each table',
  },
  {
    folder: 'domain/oauth-sessions',
    table: COMPUTED,
    reason: 'tokens of chat clients rotate by the same rules, in tables whose names their owner gives',
  },
  {
    folder: 'domain/clean-up',
    table: COMPUTED,
    reason: 'the module that owns the table gives its name to `deleteOldest`, which is checked where it is called',
  },
  {
    folder: 'domain/keys',
    table: COMPUTED,
    reason: 'sealed values of all tables are sealed again when the root key was replaced, and mean the same afterwards',
  },
  {
    folder: 'domain/homeserver',
    table: 'users',
    reason: 'a user whom the homeserver has just created has no unknown devices there',
  },
  { folder: 'domain/import', table: 'server_state', reason: 'a row marks the database while an import is incomplete' },
  { folder: 'domain/import/synapse', table: 'users', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'user_passwords', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'user_emails', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'user_unsupported_threepids', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'upstream_links', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'compat_sessions', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'compat_access_tokens', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: 'compat_refresh_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'users', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_passwords', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_emails', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_unsupported_threepids', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_terms', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_registration_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_sessions', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'imported_browser_sessions', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'user_session_authentications', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'oauth2_clients', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'oauth2_sessions', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'oauth2_access_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'oauth2_refresh_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'compat_sessions', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'compat_access_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'compat_refresh_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'personal_sessions', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'personal_access_tokens', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'policy_data', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'upstream_authorizations', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'upstream_links', reason: IMPORTS },
  { folder: 'domain/import/mas', table: 'upstream_providers', reason: IMPORTS },
  { folder: 'domain/import/synapse', table: COMPUTED, reason: 'what an import that failed left is deleted' },
];

const TABLE = String.raw`(?:only\s+)?("?[a-z_][a-z0-9_]*"?|\$\{)`;
const WRITES = [
  new RegExp(String.raw`\binsert\s+into\s+${TABLE}`, 'gi'),
  new RegExp(String.raw`\bdelete\s+from\s+${TABLE}`, 'gi'),
  new RegExp(String.raw`\bmerge\s+into\s+${TABLE}`, 'gi'),
  new RegExp(String.raw`\btruncate\s+(?:table\s+)?${TABLE}`, 'gi'),
  // Excludes `for update` and `do update set`.
  new RegExp(String.raw`(?<!\b(?:for|do|key)\s+)\bupdate\s+${TABLE}(?=\s*[^;]{0,60}?\bset\b|[^}]*\})`, 'gi'),
  /\bdeleteOldest(?:Sql)?\(\s*(?:'[a-z0-9-]+',\s*)?\{\s*table:\s*'([a-z0-9_]+)'/g,
];

const tables = [...readFileSync('migrations/schema.sql', 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gim)].map(
  ([, name]) => name,
);
const owners = new Map(Object.entries(OWNED).flatMap(([folder, names]) => names.map((name) => [name, folder])));
const problems = [
  ...tables.filter((name) => !owners.has(name)).map((name) => `no module owns the table ${name}`),
  ...[...owners.keys()].filter((name) => !tables.includes(name)).map((name) => `there is no table ${name}`),
];

let found = 0;
const used = new Set();
for (const name of readdirSync('src', { recursive: true })) {
  if (!/\.tsx?$/.test(name) || /\.test(-support)?\.tsx?$/.test(name)) continue;
  const text = readFileSync(`src/${name}`, 'utf8').replace(/^[ \t]*(?:\/?\*|\/\/).*$/gm, '');
  for (const { table, index } of writesIn(text)) {
    found += 1;
    const exception = EXCEPTIONS.find((one) => name.startsWith(`${one.folder}/`) && one.table === table);
    if (exception !== undefined) used.add(exception);
    else if (!owns(name, table)) problems.push(`src/${name}:${lineAt(text, index)}: changes ${table}${ownedBy(table)}`);
  }
}
for (const exception of EXCEPTIONS.filter((one) => !used.has(one))) {
  problems.push(`${exception.folder} does not change ${exception.table} any more: remove the exception`);
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`${found} writes of ${tables.length} tables read, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 && found > 0 ? 0 : 1;

/** Returns writes to a table of the schema, or to a computed one. */
function writesIn(text) {
  return WRITES.flatMap((write) =>
    [...text.matchAll(write)].map(({ 1: name, index }) => ({
      table: name === '${' ? COMPUTED : name.replaceAll('"', '').toLowerCase(),
      index,
    })),
  ).filter(({ table }) => table === COMPUTED || tables.includes(table));
}

function owns(name, table) {
  const folder = owners.get(table);
  return folder !== undefined && name.startsWith(`${folder}/`);
}

function ownedBy(table) {
  return table === COMPUTED ? ', a name that the source does not show' : ` of src/${owners.get(table)}`;
}

/** Comment lines are emptied rather than removed, to keep the line numbers. */
function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
