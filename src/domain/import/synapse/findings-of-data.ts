import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { ID_PATTERN } from '#platform/base/ids.ts';
import type { Finding } from '../finding.ts';
import type { ImportSource } from '../source.ts';
import { BCRYPT_PATTERN } from './users.ts';

const EXAMPLES = 5;

/** Settings that the data is checked against. */
export interface DataRules {
  readonly serverName: string;
  /** Names of the providers configured in Synapse. */
  readonly configuredThere: readonly string[];
  /** Synapse's names of the providers configured here. */
  readonly configuredHere: ReadonlySet<string>;
  /** Whether to import users of providers missing in Synapse's configuration without these identities. */
  readonly ignoresMissingProviders: boolean;
  /** Data that the operator has reviewed and skips. */
  readonly skips: ReadonlySet<SkippedKind>;
}

/** Kinds of data that an import may skip: values of `--skip`. */
export const SKIPPED_KINDS = ['other-servers', 'identifier-names', 'foreign-hashes', 'unusable-emails'] as const;

export type SkippedKind = (typeof SKIPPED_KINDS)[number];

/** Left by an earlier delegation of sign-in to another server. */
const DELEGATED = 'oauth-delegated';

/** Returns problems in a Synapse database that prevent an import or need work afterwards. */
export async function findingsOfData(source: ImportSource, rules: DataRules): Promise<readonly Finding[]> {
  return [
    ...(await findingsOfAccounts(source, rules)),
    ...(await findingsOfProviders(source, rules)),
    ...(await findingsOfNames(source, rules)),
    ...(await findingsOfHashes(source, rules)),
    ...(await findingsOfThreepids(source)),
    ...(await findingsOfEmails(source, rules)),
  ];
}

/** Returns whether any user has a password. */
export async function hasPasswords(source: ImportSource): Promise<boolean> {
  const rows = await source.rows(
    `select 1 from users where password_hash <> '' and appservice_id is null and deactivated = 0 limit 1`,
  );
  return rows.length > 0;
}

async function findingsOfAccounts(source: ImportSource, { serverName, skips }: DataRules): Promise<Finding[]> {
  const [row] = await source.rows<{
    guests: number;
    unapproved: number;
    foreign: number;
    own: number;
    example: string | null;
  }>(
    `select count(*) filter (where is_guest <> 0)::integer as guests,
            count(*) filter (where approved is false and deactivated = 0)::integer as unapproved,
            count(*) filter (where is_own)::integer as own,
            count(*) filter (where not is_own)::integer as foreign, min(name) filter (where not is_own) as example
       from (select name, is_guest, approved, deactivated, right(name, length($1::text)) = $1 as is_own from users) u`,
    [`:${serverName}`],
  );
  if (row === undefined) throw new ExitError(ExitCode.failure, 'the Synapse database returned no row');
  const findings: Finding[] = [];
  if (row.foreign > 0) {
    const isStray = row.own > row.foreign;
    const isSkipped = isStray && skips.has('other-servers');
    const advice = isSkipped ? 'they are skipped' : 'skip them with --skip other-servers';
    findings.push({
      severity: isSkipped ? 'warning' : 'error',
      code: 'server_name_mismatch',
      message: `the database has ${row.foreign} accounts of servers other than ${serverName}, for example ${row.example}: ${isStray ? advice : 'the database belongs to a different configuration'}`,
    });
  }
  if (row.unapproved > 0) {
    findings.push({
      severity: 'warning',
      code: 'unapproved_users',
      message: `${row.unapproved} accounts are waiting for approval by an administrator: they are imported as locked; unlock them with "latchkey manage unlock-user"`,
    });
  }
  if (row.guests > 0) {
    findings.push({
      severity: 'warning',
      code: 'guest_users',
      message: `${row.guests} guests are imported as accounts without a password, so they cannot sign in`,
    });
  }
  return findings;
}

const OWN_LOCALPART = `substr(name, 2, length(name) - 1 - length($1::text))`;

async function findingsOfNames(source: ImportSource, { serverName, skips }: DataRules): Promise<Finding[]> {
  const [row] = await source.rows<{ count: number; example: string | null }>(
    `select count(*)::integer as count, min(name) as example from users
      where appservice_id is null and right(name, length($1::text)) = $1::text and ${OWN_LOCALPART} ~* $2::text`,
    [`:${serverName}`, ID_PATTERN],
  );
  if (row === undefined || row.count === 0) return [];
  const isSkipped = skips.has('identifier-names');
  const advice = isSkipped ? 'they are skipped' : 'skip them with --skip identifier-names';
  return [
    {
      severity: isSkipped ? 'warning' : 'error',
      code: 'identifier_usernames',
      message: `${row.count} accounts have usernames that look like account IDs, for example ${row.example}: ${advice}`,
    },
  ];
}

async function findingsOfHashes(source: ImportSource, { skips }: DataRules): Promise<Finding[]> {
  if (skips.has('foreign-hashes')) return [];
  const [row] = await source.rows<{ count: number; examples: string | null }>(
    `select count(*)::integer as count, (array_agg(name order by name))[1:${EXAMPLES}]::text as examples from users
      where password_hash <> '' and appservice_id is null and password_hash !~ $1::text`,
    [BCRYPT_PATTERN],
  );
  if (row === undefined || row.count === 0) return [];
  return [
    {
      severity: 'warning',
      code: 'foreign_hashes',
      message: `${row.count} accounts have a password hash that is not a bcrypt hash of Synapse, for example ${row.examples}: they are imported without a password; confirm with --skip foreign-hashes`,
    },
  ];
}

/** Reads all addresses, because the findings depend on their content. */
async function findingsOfEmails(source: ImportSource, { skips }: DataRules): Promise<Finding[]> {
  if (skips.has('unusable-emails')) return [];
  const examples: string[] = [];
  let count = 0;
  for await (const rows of source.batches<{ address: string; user_id: string }>(
    `select address, user_id from user_threepids where medium = 'email'`,
  )) {
    for (const { address, user_id: userId } of rows) {
      if (parseStoredEmailAddress(address) !== undefined) continue;
      count += 1;
      if (examples.length < EXAMPLES) examples.push(`${userId} ${JSON.stringify(address)}`);
    }
  }
  if (count === 0) return [];
  return [
    {
      severity: 'warning',
      code: 'unusable_emails',
      message: `${count} email addresses are not valid here, for example ${examples.join(', ')}: they are stored separately and not used; confirm with --skip unusable-emails`,
    },
  ];
}

async function findingsOfProviders(source: ImportSource, rules: DataRules): Promise<Finding[]> {
  const used = await source.rows<{ name: string; count: number }>(
    'select auth_provider as name, count(*)::integer as count from user_external_ids group by auth_provider order by 1',
  );
  return used.flatMap(({ name, count }) => findingOfProvider(name, count, rules) ?? []);
}

function findingOfProvider(name: string, count: number, rules: DataRules): Finding | undefined {
  if (name === DELEGATED) {
    return {
      severity: 'error',
      code: 'delegated_mappings',
      message:
        `${count} accounts are mapped to a previous authentication service ("${DELEGATED}"). Migrate its accounts by ` +
        `their own identifiers, or run: delete from user_external_ids where auth_provider = '${DELEGATED}'`,
    };
  }
  if (!rules.configuredThere.includes(name)) {
    const severity = rules.ignoresMissingProviders ? 'warning' : 'error';
    const advice = rules.ignoresMissingProviders
      ? 'they are skipped unless a provider here has this name as its synapse_idp_id'
      : 'pass all configuration files of Synapse, or skip these identities with --ignore-missing-auth-providers';
    return {
      severity,
      code: 'provider_missing_in_synapse',
      message: `${count} identities belong to the provider "${name}", which is not in the Synapse configuration: ${advice}`,
    };
  }
  if (rules.configuredHere.has(name)) return undefined;
  return {
    severity: 'error',
    code: 'provider_missing_here',
    message: `${count} identities belong to the provider "${name}": configure the same provider in upstream_oauth2.providers with synapse_idp_id: ${name}`,
  };
}

async function findingsOfThreepids(source: ImportSource): Promise<Finding[]> {
  const media = await source.rows<{ medium: string; count: number }>(
    `select medium, count(*)::integer as count from user_threepids where medium <> 'email' group by medium order by 1`,
  );
  return media.map(({ medium, count }) => ({
    severity: 'warning',
    code: 'unsupported_threepids',
    message: `${count} third-party IDs of the type "${medium}" are imported but not used`,
  }));
}
