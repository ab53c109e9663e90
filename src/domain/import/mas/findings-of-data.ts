import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { ID_PATTERN } from '#platform/base/ids.ts';
import { MANDATORY_ALGORITHM } from '#protocol/jose/signing-algorithms.ts';
import { CLIENT_AUTH_METHODS } from '#protocol/oauth/client-metadata.ts';
import type { Finding } from '../finding.ts';
import type { ImportSource } from '../source.ts';
import { isCompatAccessTokenSql, isCompatRefreshTokenSql } from './compat-sessions.ts';
import { openMasSecret } from './encrypted-secrets.ts';
import { isTokenSql, type MasImport, type MasSettings, type MasSkippedKind } from './mas-import.ts';
import { IMPORTED_QUEUES, JOB_IS_OPEN } from './open-jobs.ts';
import { newestPolicyData } from './policy-data.ts';
import { hashIsUsable, NEWEST_PASSWORDS } from './users.ts';

/** What the data of MAS is checked against. */
export interface MasRules extends MasSettings, Pick<MasImport, 'isPolicyData' | 'protocolName' | 'hasHomeserver'> {
  /** UUIDs of the clients and providers in the configuration. */
  readonly clients: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
  /** Algorithms of the configured signing keys; undefined: none are configured. */
  readonly signingAlgorithms: readonly string[] | undefined;
  /** Data that the operator has reviewed and leaves out. */
  readonly skips: ReadonlySet<MasSkippedKind>;
  /** Whether the import is going to be kept, so that changes of a running MAS would be lost. */
  readonly keeps: boolean;
}

const EXAMPLES = 5;
/** More would not be read. */
const MAX_NAMES = 50;
/** The chat protocol whose scopes MAS issues. */
const PROTOCOL_NAME = 'matrix';

/** Returns what prevents an import, and what is different afterwards. */
export async function findingsOfMas(source: ImportSource, rules: MasRules): Promise<readonly Finding[]> {
  const findings = [
    ...findingsOfRules(rules),
    await running(source, rules),
    await openJobs(source, rules),
    await identifierNames(source, rules),
    await caseVariants(source),
    ...(await passwords(source, rules)),
    ...(await emails(source, rules)),
    await guests(source),
    ...(await clients(source, rules)),
    await clientAlgorithms(source, rules),
    await providers(source, rules),
    await tokenForms(source, rules),
    await sharedDevices(source),
    await orphans(source, rules),
    await policyData(source, rules),
  ];
  return findings.filter((finding) => finding !== undefined);
}

/** An error that `--skip` turns into a warning. */
function skippable(kind: MasSkippedKind, { skips }: MasRules, code: string, message: string, effect: string): Finding {
  return skips.has(kind)
    ? { severity: 'warning', code, message: `${message}: ${effect}` }
    : { severity: 'error', code, message: `${message}. With --skip ${kind}, ${effect}` };
}

async function count(source: ImportSource, text: string, values: readonly unknown[] = []) {
  const [row] = await source.rows<{ count: number; examples: string | null }>(text, values);
  return { count: row?.count ?? 0, examples: row?.examples ?? '' };
}

/** SQL: some of the names of a group. */
function examplesOf(name: string, limit = EXAMPLES): string {
  return `array_to_string((array_agg(distinct ${name} order by ${name}))[1:${limit}], ', ') as examples`;
}

function findingsOfRules({ protocolName, hasHomeserver }: MasRules): Finding[] {
  return [
    ...(protocolName === PROTOCOL_NAME
      ? []
      : ([
          {
            severity: 'error',
            code: 'protocol_name',
            message: `protocol_name is "${protocolName}", but the tokens of MAS have scopes of "${PROTOCOL_NAME}". Set protocol_name: ${PROTOCOL_NAME}`,
          },
        ] as const)),
    ...(hasHomeserver
      ? []
      : ([
          {
            severity: 'warning',
            code: 'no_homeserver',
            message: 'no homeserver is configured: open jobs of MAS are not imported. Set the section homeserver',
          },
        ] as const)),
  ];
}

async function running(source: ImportSource, rules: MasRules): Promise<Finding | undefined> {
  const { count: workers } = await count(
    source,
    `select count(*)::integer as count, null as examples from queue_workers
      where shutdown_at is null and last_seen_at > clock_timestamp() - interval '2 minutes'`,
  );
  if (workers === 0) return undefined;
  const message = 'MAS is running, or was within the last two minutes';
  if (!rules.keeps)
    return { severity: 'warning', code: 'mas_running', message: `${message}: stop it before "migrate"` };
  const effect = 'what it changes after the import has begun is lost';
  return skippable('running', rules, 'mas_running', `${message}: stop it and wait`, effect);
}

async function openJobs(source: ImportSource, { hasHomeserver }: MasRules): Promise<Finding | undefined> {
  const names = IMPORTED_QUEUES.map((name) => `'${name}'`).join(', ');
  const { count: jobs, examples } = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('queue_name')} from queue_jobs
      where ${JOB_IS_OPEN} and queue_name in (${names})`,
  );
  if (jobs === 0) return undefined;
  const effect = hasHomeserver ? 'they run here after the import' : 'they are lost without a homeserver';
  return {
    severity: 'warning',
    code: 'open_jobs',
    message: `${jobs} jobs of MAS for the homeserver have not run yet (${examples}): ${effect}`,
  };
}

async function identifierNames(source: ImportSource, rules: MasRules): Promise<Finding | undefined> {
  const { count: names, examples } = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('username')} from users where username ~* $1::text`,
    [ID_PATTERN],
  );
  if (names === 0) return undefined;
  return skippable(
    'identifier-names',
    rules,
    'identifier_usernames',
    `${names} accounts have usernames that look like account IDs (${examples})`,
    'they are left out, with everything that belongs to them',
  );
}

async function caseVariants(source: ImportSource): Promise<Finding | undefined> {
  const { count: names, examples } = await count(
    source,
    `select coalesce(sum(variants), 0)::integer as count, array_to_string((array_agg(names order by names))[1:${EXAMPLES}], ', ') as examples
       from (select count(*) as variants, string_agg(username, ' and ' order by username) as names from users
              group by lower(username collate "C") having count(*) > 1) v`,
  );
  if (names === 0) return undefined;
  return {
    severity: 'warning',
    code: 'usernames_differ_in_case',
    message: `${names} usernames differ from another one in case only (${examples}): these accounts are found by their exact spelling, as in MAS`,
  };
}

async function passwords(source: ImportSource, rules: MasRules): Promise<Finding[]> {
  const known = rules.schemes.map(({ version }) => version);
  const missing = await source.rows<{ version: number; count: number }>(
    `select version, count(*)::integer as count from (${NEWEST_PASSWORDS}) p
      where version <> all($1::integer[]) group by version order by version`,
    [known],
  );
  const foreign = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('u.username')}
       from (${NEWEST_PASSWORDS}) p join users u on u.user_id = p.user_id
      where p.version = any($1::integer[]) and not ${hashIsUsable('p.hashed_password', 'p.version', rules)}`,
    [known],
  );
  return [
    ...missing.map(({ version, count: accounts }) =>
      skippable(
        'password-versions',
        rules,
        'password_version',
        `${accounts} accounts have a password of version ${version}, which passwords.schemes lacks: add the entry of MAS`,
        'these accounts are imported without a password',
      ),
    ),
    ...(foreign.count === 0
      ? []
      : [
          skippable(
            'foreign-hashes',
            rules,
            'foreign_hashes',
            `${foreign.count} accounts have a password hash that the scheme of its version cannot verify (${foreign.examples})`,
            'these accounts are imported without a password',
          ),
        ]),
  ];
}

async function emails(source: ImportSource, rules: MasRules): Promise<Finding[]> {
  const shared = await count(
    source,
    `select count(*)::integer as count, array_to_string((array_agg(loser order by loser))[1:${MAX_NAMES}], ', ') as examples
       from (select u.username || ' ' || e.email as loser, u.user_id, first_value(u.user_id) over (
                      partition by lower(normalize(e.email, NFC))
                      order by u.locked_at is not null, e.created_at, e.user_email_id) as owner
               from user_emails e join users u on u.user_id = e.user_id
              where u.deactivated_at is null) ranked
      where user_id <> owner`,
  );
  const examples: string[] = [];
  let unusable = 0;
  for await (const rows of source.batches<{ email: string; username: string }>(
    'select e.email, u.username from user_emails e join users u on u.user_id = e.user_id',
  )) {
    for (const { email, username } of rows) {
      if (parseStoredEmailAddress(email) !== undefined) continue;
      unusable += 1;
      if (examples.length < EXAMPLES) examples.push(`${username} ${JSON.stringify(email)}`);
    }
  }
  return [
    ...(shared.count === 0
      ? []
      : ([
          {
            severity: 'warning',
            code: 'duplicate_emails',
            message: `${shared.count} email addresses belong to another account too, which keeps them. These accounts lose them: ${shared.examples}`,
          },
        ] as const)),
    ...(unusable === 0
      ? []
      : [
          skippable(
            'unusable-emails',
            rules,
            'unusable_emails',
            `${unusable} email addresses are not valid here (${examples.join(', ')})`,
            'they are stored separately and not used',
          ),
        ]),
  ];
}

async function guests(source: ImportSource): Promise<Finding | undefined> {
  const { count: accounts } = await count(
    source,
    'select count(*)::integer as count, null as examples from users where is_guest and deactivated_at is null',
  );
  if (accounts === 0) return undefined;
  return {
    severity: 'warning',
    code: 'guest_users',
    message: `${accounts} guests are imported as accounts without a password, so they cannot sign in`,
  };
}

async function clients(source: ImportSource, rules: MasRules): Promise<Finding[]> {
  const unreadable: string[] = [];
  let [readable, damaged] = [0, 0];
  for await (const rows of source.batches<{ id: string; name: string | null; secret: string }>(
    `select oauth2_client_id as id, client_name as name, encrypted_client_secret as secret from oauth2_clients
      where encrypted_client_secret is not null`,
  )) {
    for (const { id, name, secret } of rows) {
      if (openMasSecret(secret, rules.encryptionKey) !== undefined) readable += 1;
      else {
        damaged += 1;
        if (unreadable.length < EXAMPLES) unreadable.push(name ?? id);
      }
    }
  }
  const unusable = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('coalesce(client_name, oauth2_client_id::text)')} from oauth2_clients
      where token_endpoint_auth_method is null or token_endpoint_auth_method <> all($1::text[])`,
    [CLIENT_AUTH_METHODS],
  );
  const unlisted = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('coalesce(client_name, oauth2_client_id::text)')} from oauth2_clients
      where is_static and oauth2_client_id <> all($1::uuid[])`,
    [[...rules.clients]],
  );
  return [
    ...(damaged === 0 ? [] : [secretFinding(rules, readable, damaged, unreadable.join(', '))]),
    ...(unusable.count === 0
      ? []
      : ([
          {
            severity: 'warning',
            code: 'clients_without_method',
            message: `${unusable.count} clients have no token_endpoint_auth_method (${unusable.examples}): they are imported without grants, because MAS refuses them too`,
          },
        ] as const)),
    ...(unlisted.count === 0
      ? []
      : ([
          {
            severity: 'warning',
            code: 'static_clients_not_configured',
            message: `${unlisted.count} static clients of MAS are not in the configuration (${unlisted.examples}): they keep working until "config sync --prune"`,
          },
        ] as const)),
  ];
}

/** If no secret opens, the key is wrong, and leaving out all of these clients is no choice. */
function secretFinding(rules: MasRules, readable: number, damaged: number, examples: string): Finding {
  if (readable > 0) {
    const message = `${damaged} client secrets cannot be decrypted, but ${readable} can (${examples})`;
    return skippable(
      'client-secrets',
      rules,
      'client_secrets',
      message,
      'these clients are left out with their sessions',
    );
  }
  return {
    severity: 'error',
    code: 'encryption_key',
    message: `secrets.encryption does not open any of the ${damaged} client secrets (${examples}). Use the key of MAS`,
  };
}

async function clientAlgorithms(source: ImportSource, { signingAlgorithms }: MasRules): Promise<Finding | undefined> {
  if (signingAlgorithms === undefined) return undefined;
  const { count: clients, examples } = await count(
    source,
    `select count(*)::integer as count, ${examplesOf("coalesce(client_name, oauth2_client_id::text) || ' ' || alg")}
       from (select client_name, oauth2_client_id, unnest(array[
               case when grant_type_authorization_code then coalesce(id_token_signed_response_alg, '${MANDATORY_ALGORITHM}') end,
               userinfo_signed_response_alg]) as alg from oauth2_clients) c
      where alg <> all($1::text[])`,
    [signingAlgorithms],
  );
  if (clients === 0) return undefined;
  return {
    severity: 'warning',
    code: 'client_algorithms',
    message: `${clients} clients want an algorithm that no configured key signs with (${examples}). A key signs with one algorithm here: add a key to secrets.keys with this alg`,
  };
}

async function providers(source: ImportSource, { providers: configured }: MasRules): Promise<Finding | undefined> {
  const { count: links, examples } = await count(
    source,
    `select count(*)::integer as count, ${examplesOf('coalesce(p.human_name, p.issuer, p.upstream_oauth_provider_id::text)')}
       from upstream_oauth_links l
       join upstream_oauth_providers p on p.upstream_oauth_provider_id = l.upstream_oauth_provider_id
      where l.user_id is not null and p.upstream_oauth_provider_id <> all($1::uuid[])`,
    [[...configured]],
  );
  if (links === 0) return undefined;
  return {
    severity: 'warning',
    code: 'provider_not_configured',
    message: `${links} identities belong to providers that are not in the configuration (${examples}): they are kept, and their providers are disabled`,
  };
}

async function tokenForms(source: ImportSource, rules: MasRules): Promise<Finding | undefined> {
  const { count: tokens, examples } = await count(
    source,
    `select count(*)::integer as count, ${examplesOf("coalesce(u.username, 'a client')")}
       from (select s.user_id from oauth2_access_tokens t
               join oauth2_sessions s on s.oauth2_session_id = t.oauth2_session_id and s.finished_at is null
              where t.revoked_at is null and coalesce(t.expires_at > now(), true)
                and not ${isTokenSql('t.access_token', 'mat')}
             union all
             select s.user_id from oauth2_refresh_tokens t
               join oauth2_sessions s on s.oauth2_session_id = t.oauth2_session_id and s.finished_at is null
              where t.revoked_at is null and t.consumed_at is null and not ${isTokenSql('t.refresh_token', 'mar')}
             union all
             select s.user_id from compat_access_tokens t
               join compat_sessions s on s.compat_session_id = t.compat_session_id and s.finished_at is null
              where coalesce(t.expires_at > now(), true) and not ${isCompatAccessTokenSql('t.access_token')}
             union all
             select s.user_id from compat_refresh_tokens t
               join compat_sessions s on s.compat_session_id = t.compat_session_id and s.finished_at is null
              where t.consumed_at is null and not ${isCompatRefreshTokenSql('t.refresh_token')}) t
       left join users u on u.user_id = t.user_id`,
  );
  if (tokens === 0) return undefined;
  return skippable(
    'token-forms',
    rules,
    'token_forms',
    `${tokens} tokens have a form that is not accepted here (${examples})`,
    'they are left out, and these clients sign in again',
  );
}

async function sharedDevices(source: ImportSource): Promise<Finding | undefined> {
  const { count: sessions, examples } = await count(
    source,
    `select coalesce(sum(surplus), 0)::integer as count, ${examplesOf('username')}
       from (select u.username, count(*) - 1 as surplus
               from compat_sessions s join users u on u.user_id = s.user_id
              where s.finished_at is null and s.device_id is not null
              group by u.username, s.device_id having count(*) > 1) d`,
  );
  if (sessions === 0) return undefined;
  return {
    severity: 'warning',
    code: 'shared_devices',
    message: `${sessions} sessions of chat clients have a device that a newer session has too (${examples}): the newer session takes over their tokens`,
  };
}

/** References whose target may be missing in a damaged database: table, column, referenced table, its column. */
const REFERENCES = [
  ['user_passwords', 'user_id', 'users', 'user_id'],
  ['user_emails', 'user_id', 'users', 'user_id'],
  ['user_sessions', 'user_id', 'users', 'user_id'],
  ['upstream_oauth_links', 'user_id', 'users', 'user_id'],
  ['upstream_oauth_links', 'upstream_oauth_provider_id', 'upstream_oauth_providers', 'upstream_oauth_provider_id'],
  ['oauth2_sessions', 'user_id', 'users', 'user_id'],
  ['oauth2_sessions', 'oauth2_client_id', 'oauth2_clients', 'oauth2_client_id'],
  ['oauth2_access_tokens', 'oauth2_session_id', 'oauth2_sessions', 'oauth2_session_id'],
  ['oauth2_refresh_tokens', 'oauth2_session_id', 'oauth2_sessions', 'oauth2_session_id'],
  ['compat_sessions', 'user_id', 'users', 'user_id'],
  ['compat_access_tokens', 'compat_session_id', 'compat_sessions', 'compat_session_id'],
  ['compat_refresh_tokens', 'compat_session_id', 'compat_sessions', 'compat_session_id'],
  ['personal_sessions', 'actor_user_id', 'users', 'user_id'],
  ['personal_access_tokens', 'personal_session_id', 'personal_sessions', 'personal_session_id'],
] as const;

async function orphans(source: ImportSource, rules: MasRules): Promise<Finding | undefined> {
  const found: string[] = [];
  for (const [table, column, parent, key] of REFERENCES) {
    const { count: rows } = await count(
      source,
      `select count(*)::integer as count, null as examples from ${table} t
        where t.${column} is not null and not exists (select from ${parent} p where p.${key} = t.${column})`,
    );
    if (rows > 0) found.push(`${rows} in ${table} without ${parent}`);
  }
  if (found.length === 0) return undefined;
  return skippable(
    'orphans',
    rules,
    'orphans',
    `the database of MAS is damaged, rows refer to missing ones (${found.join(', ')})`,
    'these rows are left out',
  );
}

async function policyData(source: ImportSource, rules: MasRules): Promise<Finding | undefined> {
  const row = await newestPolicyData(source);
  if (row === undefined || rules.isPolicyData(row.data)) return undefined;
  return skippable(
    'policy-data',
    rules,
    'policy_data',
    'the policy data of MAS has members or values that are not valid here',
    'it is left out; set policy.data instead',
  );
}
