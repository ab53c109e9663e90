import type { GroupRefusal } from '#domain/accounts/groups/change-group.ts';
import { createGroup } from '#domain/accounts/groups/create-group.ts';
import { deleteGroup } from '#domain/accounts/groups/delete-group.ts';
import { findGroupByName, type Group } from '#domain/accounts/groups/group.ts';
import { type AddOutcome, addMembers, removeMember } from '#domain/accounts/groups/group-members.ts';
import { groups, MAX_COUNTED_MEMBERS } from '#domain/administration/group-listing.ts';
import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { containing } from '#platform/postgres/like.ts';
import { GROUP_NAME_RULE, isGroupName, MAX_GROUPS } from '#protocol/oidc/group-names.ts';
import type { GroupId, UserId } from '#vocabulary/ids.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { operatorChange } from './operator-change.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

export interface CreateGroupOptions {
  readonly name: string;
  readonly description?: string | undefined;
  readonly json: boolean;
}

/** `manage create-group`. Throws `ExitError` 1 if the name is not valid or taken. */
export async function createGroupCommand(deps: ManageDeps, options: CreateGroupOptions): Promise<void> {
  const { name, description, json } = options;
  if (!isGroupName(name)) {
    throw new ExitError(ExitCode.failure, `"${visible(name)}" is not a valid group name: ${GROUP_NAME_RULE}`);
  }
  const wanted = { name, description: description === '' ? null : (description ?? null), now: deps.clock.now() };
  const id = await operatorChange(
    deps,
    (made: GroupId) => actionOn('create-group', made),
    async (transaction) => (await createGroup(transaction, wanted)) ?? refuse('exists'),
  );
  deps.io.stdout(json ? `${JSON.stringify({ id, name })}\n` : `${id}\n`);
}

export interface ListGroupsOptions {
  readonly search?: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** `manage list-groups`: a table, or with `--json` one document per line. */
export async function listGroupsCommand(deps: ManageDeps, options: ListGroupsOptions): Promise<void> {
  const { search, limit, json } = options;
  const filters = { search: search === undefined || search === '' ? undefined : containing(search) };
  const window = { size: limit, isFromEnd: false, after: undefined, before: undefined };
  const { items, hasNext } = await groups.page(deps.database, filters, window, { name: 'name', isDescending: false });
  if (json) {
    for (const { id, name, description, is_external, member_count } of items) {
      const document = { id: fromUuid(id), name, description, external: is_external, member_count };
      deps.io.stdout(`${JSON.stringify(document)}\n`);
    }
  } else {
    deps.io.stdout(
      table([
        ['ID', 'MEMBERS', 'SOURCE', 'NAME'],
        ...items.map(({ id, name, is_external, member_count }) => [
          fromUuid(id),
          member_count < MAX_COUNTED_MEMBERS ? String(member_count) : `${MAX_COUNTED_MEMBERS}+`,
          is_external ? 'provider' : 'here',
          visible(name),
        ]),
      ]),
    );
  }
  deps.io.stderr(hasNext ? `only the first ${limit} are shown\n` : `total: ${items.length}\n`);
}

export interface GroupMembersOptions {
  readonly group: string;
  /** Usernames, `@user:server` or IDs. */
  readonly users: readonly string[];
  readonly json: boolean;
}

type AddedMembers = Extract<AddOutcome, { readonly ok: true }>;

/** `manage add-to-group`. Throws `ExitError` 1 if the group or a user does not exist; nobody is added then. */
export async function addToGroupCommand(deps: ManageDeps, options: GroupMembersOptions): Promise<void> {
  const group = await findGroup(deps, options.group);
  const users = await findUsers(deps, options.users);
  const { added, already } = await operatorChange(
    deps,
    (done: AddedMembers) =>
      done.added === 0 ? undefined : actionOn('add-to-group', group.id, ['members'], onlyOne(users)),
    async (transaction) => {
      const addition = { group: group.id, users: [...users.keys()], now: deps.clock.now() };
      const outcome = await addMembers(transaction, addition);
      if (outcome.ok) return outcome;
      if (!('user' in outcome)) return refuse(outcome.reason);
      const problem = outcome.reason === 'full' ? `already has ${MAX_GROUPS} groups` : 'was not found';
      throw new ExitError(ExitCode.failure, `${users.get(outcome.user) ?? outcome.user} ${problem}`);
    },
  );
  if (options.json) deps.io.stdout(`${JSON.stringify({ group: group.name, added, already })}\n`);
  else deps.io.stdout(`${added} added, ${already} already in ${visible(group.name)}\n`);
}

/** `manage remove-from-group`. Throws `ExitError` 1 if the group or a user does not exist; nobody is removed then. */
export async function removeFromGroupCommand(deps: ManageDeps, options: GroupMembersOptions): Promise<void> {
  const group = await findGroup(deps, options.group);
  const users = await findUsers(deps, options.users);
  const removed = await operatorChange(
    deps,
    (done: number) => (done === 0 ? undefined : actionOn('remove-from-group', group.id, ['members'], onlyOne(users))),
    async (transaction) => {
      let count = 0;
      for (const [user, username] of users) {
        const outcome = await removeMember(transaction, { group: group.id, user, now: deps.clock.now() });
        if (outcome === 'removed') count += 1;
        else if (outcome === 'external') {
          throw new ExitError(ExitCode.failure, `${username} is in the group because of a sign-in provider`);
        } else if (outcome === 'unknown-user') throw new ExitError(ExitCode.failure, `${username} was not found`);
        else if (outcome !== 'no-member') refuse(outcome);
      }
      return count;
    },
  );
  const others = users.size - removed;
  if (options.json) deps.io.stdout(`${JSON.stringify({ group: group.name, removed, not_members: others })}\n`);
  else deps.io.stdout(`${removed} removed from ${visible(group.name)}, ${others} not in it\n`);
}

export interface DeleteGroupOptions {
  readonly group: string;
  readonly isForced: boolean;
  readonly json: boolean;
}

/** `manage delete-group`. Throws `ExitError` 1 if the group cannot be deleted. */
export async function deleteGroupCommand(deps: ManageDeps, options: DeleteGroupOptions): Promise<void> {
  const { id, name } = await findGroup(deps, options.group);
  await operatorChange(deps, actionOn('delete-group', id), async (transaction) => {
    const outcome = await deleteGroup(transaction, { id, isForced: options.isForced, now: deps.clock.now() });
    if (outcome.ok) return;
    if (outcome.reason !== 'in-use') refuse(outcome.reason);
    else {
      const clients = outcome.clients.join(', ');
      throw new ExitError(ExitCode.failure, `clients are limited to this group: ${clients}. Use --force to delete it`);
    }
  });
  deps.io.stdout(options.json ? `${JSON.stringify({ id, name })}\n` : 'deleted\n');
}

async function findGroup({ database }: ManageDeps, name: string): Promise<Group> {
  const group = await findGroupByName(database, name);
  if (group === undefined) throw new ExitError(ExitCode.failure, 'group not found; names are compared exactly');
  return group;
}

/** Returns usernames by ID. */
async function findUsers(deps: ManageDeps, references: readonly string[]): Promise<ReadonlyMap<UserId, string>> {
  const users = new Map<UserId, string>();
  for (const reference of references) {
    const { id, username } = await findManagedUser(deps, reference);
    users.set(id, username);
  }
  return users;
}

function onlyOne(users: ReadonlyMap<UserId, string>): UserId | undefined {
  const [first, second] = users.keys();
  return second === undefined ? first : undefined;
}

function actionOn(operation: string, id: GroupId, changed?: readonly string[], userId?: UserId): AdminAction {
  return { operation, target: { type: 'group', id, userId }, changed };
}

const REFUSALS: Readonly<Record<GroupRefusal, string>> = {
  unknown: 'group not found',
  exists: 'another group has this name',
  pending: 'the group is being renamed or deleted; retry later',
  external: 'a sign-in provider reports this group; change it there',
  configured: 'a client in the configuration names this group; change it there first',
};

function refuse(reason: GroupRefusal): never {
  throw new ExitError(ExitCode.failure, REFUSALS[reason]);
}
