import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Finding } from './finding.ts';
import type { SynapseSource } from './source.ts';

/** What the data there are compared with. */
export interface DataRules {
  readonly serverName: string;
  /** What Synapse calls the providers that it is configured with. */
  readonly configuredThere: readonly string[];
  /** What Synapse called those that are configured here. */
  readonly configuredHere: ReadonlySet<string>;
  /** People of providers that its configuration does not name are copied without them. */
  readonly ignoresMissingProviders: boolean;
}

/** What an earlier delegation of sign-ins, to a program of another make, left. */
const DELEGATED = 'oauth-delegated';

/** What the data of a Synapse say against an import, or for work afterwards. */
export async function findingsOfData(source: SynapseSource, rules: DataRules): Promise<readonly Finding[]> {
  return [
    ...(await findingsOfAccounts(source, rules)),
    ...(await findingsOfProviders(source, rules)),
    ...(await findingsOfThreepids(source)),
  ];
}

/** Whether anybody has a password there. */
export async function hasPasswords(source: SynapseSource): Promise<boolean> {
  const rows = await source.rows(
    `select 1 from users where password_hash <> '' and appservice_id is null and deactivated = 0 limit 1`,
  );
  return rows.length > 0;
}

async function findingsOfAccounts(source: SynapseSource, { serverName }: DataRules): Promise<Finding[]> {
  const [row] = await source.rows<{
    guests: number;
    unapproved: number;
    foreign: number;
    example: string | null;
  }>(
    `select count(*) filter (where is_guest <> 0)::integer as guests,
            count(*) filter (where approved is false and deactivated = 0)::integer as unapproved,
            count(*) filter (where not is_own)::integer as foreign, min(name) filter (where not is_own) as example
       from (select name, is_guest, approved, deactivated, right(name, length($1::text)) = $1 as is_own from users) u`,
    [`:${serverName}`],
  );
  if (row === undefined) throw new ExitError(ExitCode.failure, 'the database of Synapse gave no answer');
  const findings: Finding[] = [];
  if (row.foreign > 0) {
    findings.push({
      severity: 'error',
      code: 'server_name_mismatch',
      message: `the database has ${row.foreign} accounts of another server than ${serverName}, for example ${row.example}: it belongs to another configuration`,
    });
  }
  if (row.unapproved > 0) {
    findings.push({
      severity: 'warning',
      code: 'unapproved_users',
      message: `${row.unapproved} accounts wait for the approval of an administrator: they are locked here until "latchkey manage unlock-user"`,
    });
  }
  if (row.guests > 0) {
    findings.push({
      severity: 'warning',
      code: 'guest_users',
      message: `${row.guests} guests are copied as accounts without a password, which nobody can sign in to`,
    });
  }
  return findings;
}

async function findingsOfProviders(source: SynapseSource, rules: DataRules): Promise<Finding[]> {
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
        `${count} accounts are mapped to an earlier service for sign-ins ("${DELEGATED}"). Its accounts have to be moved by ` +
        `their own identifiers, or: delete from user_external_ids where auth_provider = '${DELEGATED}'`,
    };
  }
  if (!rules.configuredThere.includes(name)) {
    const severity = rules.ignoresMissingProviders ? 'warning' : 'error';
    const advice = rules.ignoresMissingProviders
      ? 'they are left out, unless a provider here has that name as its synapse_idp_id'
      : 'name all files of its configuration, or leave these identities out by --ignore-missing-auth-providers';
    return {
      severity,
      code: 'provider_missing_in_synapse',
      message: `${count} identities are of the provider "${name}", which the configuration of Synapse does not have: ${advice}`,
    };
  }
  if (rules.configuredHere.has(name)) return undefined;
  return {
    severity: 'error',
    code: 'provider_missing_here',
    message: `${count} identities are of the provider "${name}": give the same one here, in upstream_oauth2.providers, synapse_idp_id: ${name}`,
  };
}

async function findingsOfThreepids(source: SynapseSource): Promise<Finding[]> {
  const media = await source.rows<{ medium: string; count: number }>(
    `select medium, count(*)::integer as count from user_threepids where medium <> 'email' group by medium order by 1`,
  );
  return media.map(({ medium, count }) => ({
    severity: 'warning',
    code: 'unsupported_threepids',
    message: `${count} third-party ids of the kind "${medium}" are copied, and have no use here`,
  }));
}
