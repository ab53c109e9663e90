/** Finds what is valid in new policy data, but probably not intended: lost access, and names that grant nothing. */
import type { PolicyData } from '#config/sections/policy.ts';
import { usernameKey } from '#domain/accounts/account-names.ts';
import { listUsernamesLike } from '#domain/accounts/find-user.ts';
import { type BanDeps, findBan } from '#domain/policy/requester-policy.ts';
import { fromUuid, parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

export const POLICY_WARNING_CODES = [
  'locks_out_caller',
  'bans_caller',
  'unknown_user',
  'respelled_user',
  'unknown_client',
] as const;

export interface PolicyDataWarning {
  readonly code: (typeof POLICY_WARNING_CODES)[number];
  /** Of the member, below the data. */
  readonly path: readonly string[];
  /** What the member contains. */
  readonly subject: string;
}

export interface PolicyEditor {
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
  readonly clientId: ClientId | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export interface NewPolicyData {
  /** As it would be stored. */
  readonly added: Readonly<Record<string, unknown>>;
  /** Merged with the configuration. */
  readonly data: PolicyData;
  readonly editor: PolicyEditor;
}

interface WarningDeps extends Pick<BanDeps, 'moduleRules'> {
  readonly database: Queryable;
  /** The data in effect. */
  readonly policy: { readonly data: PolicyData };
}

const isMarkedAdmin = statement<{ is_admin: boolean }, { readonly id: string }>(
  'editor-is-marked-admin',
  'select u.can_request_admin as is_admin from users u where u.id = :id::uuid',
);

const existingClients = statement<{ id: string }, { readonly ids: readonly string[] }>(
  'listed-admin-clients',
  'select c.id from oauth2_clients c where c.id = any (:ids::uuid[])',
);

/** Takes up to three statements. */
export async function policyDataWarnings(
  deps: WarningDeps,
  next: NewPolicyData,
): Promise<readonly PolicyDataWarning[]> {
  return [
    ...(await lockedOut(deps, next)),
    ...banned(deps, next),
    ...(await unknownUsers(deps.database, listIn(next.added, 'admin_users'))),
    ...(await unknownClients(deps.database, listIn(next.added, 'admin_clients'))),
  ];
}

/** Finds whether the caller has the right only because of the data in effect. */
async function lockedOut(
  { database, policy }: WarningDeps,
  { data, editor }: NewPolicyData,
): Promise<PolicyDataWarning[]> {
  const { user, clientId } = editor;
  if (user !== undefined) {
    const isLosing = policy.data.adminUsers.includes(user.username) && !data.adminUsers.includes(user.username);
    if (!isLosing || (await database.first(isMarkedAdmin, { id: toUuid(user.id) }))?.is_admin === true) return [];
    return [{ code: 'locks_out_caller', path: ['admin_users'], subject: user.username }];
  }
  const isLosing =
    clientId !== undefined && policy.data.adminClients.includes(clientId) && !data.adminClients.includes(clientId);
  return isLosing ? [{ code: 'locks_out_caller', path: ['admin_clients'], subject: clientId }] : [];
}

/** Banned requesters cannot authorize clients, of which the admin area is one. */
function banned({ moduleRules }: WarningDeps, { data, editor }: NewPolicyData): PolicyDataWarning[] {
  const { address, userAgent } = editor;
  const setting = findBan({ policy: { data }, moduleRules }, 'authorizationGrant', address, userAgent);
  if (setting === undefined) return [];
  const subject = setting === 'banned_ips' ? address : userAgent;
  return [{ code: 'bans_caller', path: ['requester', setting], subject: subject ?? '' }];
}

/** Names are compared exactly, so one in another case grants nothing. */
async function unknownUsers(database: Queryable, names: readonly string[]): Promise<PolicyDataWarning[]> {
  if (names.length === 0) return [];
  const existing = await listUsernamesLike(database, names);
  const keys = new Set(existing.map(usernameKey));
  return names.flatMap((subject, index): PolicyDataWarning[] => {
    if (existing.includes(subject)) return [];
    const code = keys.has(usernameKey(subject)) ? 'respelled_user' : 'unknown_user';
    return [{ code, path: ['admin_users', String(index)], subject }];
  });
}

async function unknownClients(database: Queryable, ids: readonly string[]): Promise<PolicyDataWarning[]> {
  const uuids = ids.flatMap((id) => {
    const parsed = parseId(id);
    return parsed === undefined ? [] : [toUuid(parsed)];
  });
  if (uuids.length === 0) return [];
  const rows = await database.rows(existingClients, { ids: uuids });
  const existing = new Set<string>(rows.map(({ id }) => fromUuid(id)));
  return ids.flatMap((subject, index): PolicyDataWarning[] =>
    existing.has(subject) ? [] : [{ code: 'unknown_client', path: ['admin_clients', String(index)], subject }],
  );
}

function listIn(added: NewPolicyData['added'], name: string): readonly string[] {
  const list = added[name];
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];
}
