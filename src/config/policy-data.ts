/** Policy data that administrators store, merged into `policy.data` of the configuration (operations 1.18). */

import type { z } from 'zod';
import { isObject } from '#platform/base/objects.ts';
import { type PolicyData, policyConfig, policySection } from './sections/policy.ts';

export type AddedPolicyData =
  | { readonly ok: true; readonly data: PolicyData }
  /** `path` starts with `data`. */
  | { readonly ok: false; readonly path: readonly string[]; readonly problem: string };

/** Maximum number of values in total; every regular expression is compiled. */
const MAX_VALUES = 10_000;

/**
 * Merges stored policy data into the configured data. Mappings are merged and lists are concatenated. Other values
 * replace the configured value, and null restores the default. All values are validated like the configuration.
 */
export function addPolicyData(configured: PolicyData, added: unknown): AddedPolicyData {
  if (countValues(added) > MAX_VALUES) {
    return { ok: false, path: ['data'], problem: `expected at most ${MAX_VALUES} values` };
  }
  const merged = withoutNulls(merge(writtenPolicyData(configured), added));
  const read = policySection.safeParse({ data: merged });
  if (read.success) return { ok: true, data: policyConfig(read.data).data };
  const [issue] = read.error.issues;
  const path = pathInAdded(issue?.path ?? [], { data: writtenPolicyData(configured) });
  if (issue?.code !== 'unrecognized_keys') return { ok: false, path, problem: issue?.message ?? 'it cannot be read' };
  return { ok: false, path: [...path, issue.keys[0] ?? ''], problem: 'unknown key' };
}

/** Returns the data in the format of the configuration file. */
export function writtenPolicyData(data: PolicyData) {
  const { adminUsers, adminClients, clientRegistration, registration, emails, requester } = data;
  return {
    admin_users: adminUsers,
    admin_clients: adminClients,
    client_registration: {
      allow_host_mismatch: clientRegistration.allowHostMismatch,
      allow_insecure_uris: clientRegistration.allowInsecureUris,
      allow_missing_client_uri: clientRegistration.allowMissingClientUri,
      allow_private_use_schemes: clientRegistration.allowPrivateUseSchemes,
      preset: clientRegistration.preset,
    },
    registration: {
      allowed_usernames: registration.allowedUsernames,
      banned_usernames: registration.bannedUsernames,
    },
    allowed_domains: emails.allowedDomains,
    banned_domains: emails.bannedDomains,
    emails: { allowed_addresses: emails.allowedAddresses, banned_addresses: emails.bannedAddresses },
    requester: {
      banned_ips: requester.bannedIps.map(({ address, prefixLength }) => `${address}/${prefixLength}`),
      banned_user_agents: requester.bannedUserAgents,
    },
  } satisfies Readonly<Record<keyof NonNullable<z.input<typeof policySection>['data']>, unknown>>;
}

/** Lists are appended to the configured ones, so positions in the merged lists are higher than in the added data. */
function pathInAdded(path: readonly PropertyKey[], configured: unknown): string[] {
  let base: unknown = configured;
  return path.map((step) => {
    const position = Array.isArray(base) && typeof step === 'number' ? step - base.length : step;
    base = isObject(base) && typeof step === 'string' ? base[step] : undefined;
    return String(position);
  });
}

function merge(base: unknown, added: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(added)) return [...base, ...added];
  if (!isObject(base) || !isObject(added)) return added;
  const members = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(added)) {
    members.set(name, members.has(name) ? merge(members.get(name), value) : value);
  }
  return Object.fromEntries(members);
}

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

function countValues(value: unknown): number {
  if (value === null || typeof value !== 'object') return 1;
  return Object.values(value).reduce((total: number, member) => total + countValues(member), 0);
}
