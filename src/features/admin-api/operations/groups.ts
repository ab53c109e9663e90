/** Groups with their members (administration 3). */
import { z } from 'zod';
import { changeGroup, type GroupRefusal } from '#domain/accounts/groups/change-group.ts';
import { createGroup } from '#domain/accounts/groups/create-group.ts';
import { deleteGroup } from '#domain/accounts/groups/delete-group.ts';
import { type AddOutcome, addMembers, removeMember } from '#domain/accounts/groups/group-members.ts';
import { namesListedBy } from '#domain/accounts/groups/lock-group.ts';
import {
  type GroupDetailsRecord,
  type GroupRecord,
  groupDetails,
  groups,
  MAX_COUNTED_MEMBERS,
  MAX_GROUP_CLIENTS,
} from '#domain/administration/group-listing.ts';
import { users } from '#domain/administration/user-listing.ts';
import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid, parseId } from '#platform/base/ids.ts';
import { json, noStore } from '#platform/http/response.ts';
import { containing } from '#platform/postgres/like.ts';
import { GROUP_NAME_RULE, isGroupName, MAX_GROUPS } from '#protocol/oidc/group-names.ts';
import type { GroupId, UserId } from '#vocabulary/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { type Resource, single, time } from '../definition/documents.ts';
import { clientKind, EXAMPLE_ID, filter, flag, text, ulid } from '../definition/fields.ts';
import { readQuery } from '../definition/list-parameters.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  idOfPath,
  invalidMember,
  listOperation,
  logAction,
  missing,
  nestedListOperation,
  type Operation,
  readBody,
  singleResponse,
  stored,
} from '../definition/operation.ts';
import { USER } from './users.ts';

const MAX_ADDED = 500;
const MAX_DESCRIPTION = 500;

const attributes = z.object({
  name: z.string().describe('Name, as clients receive it.'),
  description: z.string().nullable().describe('Description for administrators.'),
  created_at: z.iso.datetime().describe('When it was created.'),
  external: z
    .boolean()
    .describe('Whether an enabled sign-in provider reports it for some users; updated every 15 minutes.'),
  member_count: z.int().describe(`Number of members. Counting stops at ${MAX_COUNTED_MEMBERS}.`),
  pending: z
    .enum(['renaming', 'deleting'])
    .nullable()
    .describe('Whether the names listed by its members are being changed in the background.'),
});

function attributesOf(group: GroupRecord) {
  return {
    name: group.name,
    description: group.description,
    created_at: time(group.created_at),
    external: group.is_external,
    member_count: group.member_count,
    pending: group.is_deleted ? 'deleting' : group.former_name === null ? null : 'renaming',
  };
}

const GROUP: Resource<GroupRecord> = {
  type: 'group',
  path: 'groups',
  description: 'Group of accounts.',
  attributes,
  attributesOf,
};

const GROUP_DETAILS: Resource<GroupDetailsRecord> = {
  ...GROUP,
  description: 'Group of accounts, with the clients that are limited to it.',
  attributes: attributes.extend({
    clients: z
      .array(
        z
          .object({
            id: z.string().describe('ID of the client.'),
            client_name: z.string().nullable().describe('Name of the client.'),
            kind: clientKind().describe('Kind of client, as in `oauth2-clients`.'),
          })
          .describe('A client.'),
      )
      .describe(`Clients that only members of this and other named groups may use; at most ${MAX_GROUP_CLIENTS}.`),
  }),
  attributesOf: (group) => ({
    ...attributesOf(group),
    clients: group.clients.map(({ id, client_name, kind }) => ({ id: fromUuid(id), client_name, kind })),
  }),
};

const SHARED = { resource: GROUP_DETAILS, source: stored(groupDetails) };

const name = z
  .string()
  .refine(isGroupName, `expected ${GROUP_NAME_RULE}`)
  .meta({ minLength: 1, maxLength: 255 })
  .describe('Name, compared exactly.');
const description = z
  .string()
  .max(MAX_DESCRIPTION, `must have at most ${MAX_DESCRIPTION} characters`)
  .refine((value) => !/\p{Cs}|\0/u.test(value), 'contains an invalid character')
  .nullable()
  .describe('Description for administrators; null or empty: none.');

const newGroup = z.strictObject({ name, description: description.default(null) });
const changedGroup = z.strictObject({ name: name.optional(), description: description.optional() });
const addedUsers = z.strictObject({
  user_ids: z
    .array(ulid())
    .min(1, 'must not be empty')
    .max(MAX_ADDED, `must have at most ${MAX_ADDED} accounts`)
    .describe('Accounts to add.'),
});

const deletionParameters = z.object({
  force: filter(flag(), 'Whether to delete the group also if clients are limited to it: `true`, or `false` (default).'),
});

export const groupOperations: readonly Operation[] = [
  listOperation({
    id: 'listGroups',
    summary: 'Lists groups',
    description:
      'Groups, ordered by creation time unless `sort` says otherwise. Names that only sign-in providers report, and names from before an upgrade, ' +
      'appear within 15 minutes.',
    resource: GROUP,
    source: stored(groups),
    sorts: ['id', 'name'],
    filters: z.object({
      search: filter(
        text(255),
        'Groups whose name contains this text (case-insensitive): 1 to 255 characters.',
        'harbour',
      ),
      external: filter(flag(), 'Groups that a sign-in provider reports (`true`), or all others (`false`).'),
    }),
    select: ({ search, external }) => ({ isExternal: external, search: search && containing(search) }),
  }),
  getOperation({
    id: 'getGroup',
    summary: 'Gets a group',
    description: 'Returns a group by its ID, with the clients that are limited to it.',
    ...SHARED,
  }),
  {
    id: 'createGroup',
    method: 'POST',
    path: GROUP.path,
    tag: GROUP.type,
    summary: 'Creates a group without members',
    description: 'Setting the groups of an account also creates groups.',
    body: newGroup,
    example: { name: 'harbour-crew', description: 'Pilots and crew of the harbor' },
    answers: [singleResponse(201, GROUP_DETAILS, 'The new group.')],
    errors: ['invalid_body', 'group_exists'],
    run: async (call) => {
      const { core, context } = call;
      const wanted = described(await readBody(context, newGroup));
      const recorded = (id: GroupId) => ({ operation: 'createGroup', target: { type: GROUP.type, id } });
      const id = await change(call, recorded, async ({ clock }, transaction) => {
        const made = await createGroup(transaction, { ...wanted, now: clock.now() });
        if (made === undefined) throw refusal('exists');
        return made;
      });
      logAction(call, 'createGroup', id);
      return single(201, GROUP_DETAILS, (await groupDetails.find(core.database, id)) ?? gone(), call);
    },
  },
  {
    id: 'updateGroup',
    method: 'PATCH',
    path: `${GROUP.path}/:id`,
    tag: GROUP.type,
    summary: 'Renames or describes a group',
    description:
      'Omitted members stay as they are. Members of the group and `allowed_groups` of clients keep a renamed group. With ' +
      'more than 1,000 members, some tokens contain the former name until `pending` is null.',
    body: changedGroup,
    example: { name: 'harbour-crew' },
    answers: [singleResponse(200, GROUP_DETAILS, 'The changed group.')],
    errors: [
      'invalid_id',
      'not_found',
      'invalid_body',
      'group_exists',
      'group_is_configured',
      'group_is_external',
      'group_is_pending',
    ],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'group'>(context);
      const wanted = { name: undefined, description: undefined, ...described(await readBody(context, changedGroup)) };
      const recorded = (changed: readonly string[]): AdminAction => actionOn('updateGroup', id, changed);
      await change(call, recorded, async ({ clock }, transaction) => {
        const outcome = await changeGroup(transaction, { id, ...wanted, now: clock.now() });
        if (!outcome.ok) throw refusal(outcome.reason);
        return outcome.changed;
      });
      logAction(call, 'updateGroup', id);
      return single(200, GROUP_DETAILS, (await groupDetails.find(core.database, id)) ?? gone(), call);
    },
  },
  actionOperation({
    id: 'deleteGroup',
    method: 'DELETE',
    summary: 'Deletes a group and removes its members',
    description:
      'A group that clients are limited to is deleted only with `force=true`. The clients stay limited: nobody matches a deleted group, also if another group gets its name.',
    ...SHARED,
    parameters: deletionParameters,
    errors: ['invalid_parameter', 'group_in_use', 'group_is_configured', 'group_is_external', 'group_is_pending'],
    isSilent: true,
    run: async (call, item, action) => {
      const id = fromUuid<'group'>(item.id);
      const { force: isForced = false } = readQuery(call.context.query, deletionParameters);
      await change(call, action, async ({ clock }, transaction) => {
        const outcome = await deleteGroup(transaction, { id, isForced, now: clock.now() });
        if (outcome.ok) return;
        if (outcome.reason !== 'in-use') throw refusal(outcome.reason);
        throw new LatchkeyError('group_in_use', {
          description: `clients are limited to this group: ${outcome.clients.join(', ')}`,
        });
      });
    },
  }),
  nestedListOperation({
    id: 'listGroupUsers',
    summary: 'Lists the members of a group',
    description: 'Accounts in the group, ordered by creation time.',
    parent: { resource: GROUP, source: stored(groups) },
    path: 'users',
    resource: USER,
    source: stored(users),
    filters: z.object({
      source: filter(
        z.enum(['admin', 'provider'], 'must be admin or provider'),
        'Accounts that administrators added (`admin`), or for which an enabled sign-in provider reports the group ' +
          '(`provider`). Default: both.',
      ),
    }),
    select: ({ source }, group) => {
      const names = namesListedBy({ name: group.name, formerName: group.former_name });
      if (source === 'admin') return { ownGroups: names };
      return source === 'provider' ? { reportedGroups: names } : { anyGroups: names };
    },
  }),
  {
    id: 'addGroupUsers',
    method: 'POST',
    path: `${GROUP.path}/:id/users`,
    tag: GROUP.type,
    summary: 'Adds up to 500 accounts to a group, all or none',
    description: 'Clients that request groups receive the group with their next tokens.',
    body: addedUsers,
    example: { user_ids: [EXAMPLE_ID] },
    answers: [
      {
        status: 200,
        schema: z.object({
          meta: z
            .object({
              added: z.int().describe('Number of accounts that were added.'),
              already: z.int().describe('Number of accounts that already were members.'),
            })
            .describe('What changed.'),
        }),
        description: 'The accounts are members.',
      },
    ],
    errors: ['invalid_id', 'not_found', 'invalid_body', 'group_is_pending'],
    run: async (call) => {
      const id = idOfPath<'group'>(call.context);
      const { user_ids } = await readBody(call.context, addedUsers);
      const wanted = user_ids.map((user) => fromUuid<'user'>(user));
      const { added, already } = await add(call, id, wanted, {
        action: actionOn('addGroupUsers', id, ['members']),
        pointerTo: (user) => ['user_ids', wanted.indexOf(user)],
      });
      logAction(call, 'addGroupUsers', id);
      return json(200, { meta: { added, already } });
    },
  },
  {
    id: 'addGroupUser',
    method: 'PUT',
    path: `${GROUP.path}/:id/users/:user`,
    tag: GROUP.type,
    summary: 'Adds an account to a group',
    description: `Has no effect on members. An account can be in ${MAX_GROUPS} groups set by administrators.`,
    answers: [{ status: 204, schema: undefined, description: 'The account is a member.' }],
    errors: ['invalid_id', 'not_found', 'invalid_body', 'group_is_pending'],
    run: async (call) => {
      const { id, user } = memberOfPath(call);
      await add(call, id, [user], { action: actionOn('addGroupUser', id, ['members'], user), pointerTo: () => [] });
      logAction(call, 'addGroupUser', id);
      return { status: 204, headers: noStore };
    },
  },
  {
    id: 'removeGroupUser',
    method: 'DELETE',
    path: `${GROUP.path}/:id/users/:user`,
    tag: GROUP.type,
    summary: 'Removes an account from a group',
    description:
      'Clients that are limited to the group are closed to the user at the next refresh. Has no effect on others.',
    answers: [{ status: 204, schema: undefined, description: 'The account is not a member set by administrators.' }],
    errors: ['invalid_id', 'not_found', 'group_is_external', 'group_is_pending'],
    run: async (call) => {
      const { core, caller } = call;
      const { id, user } = memberOfPath(call);
      const removal = { group: id, user, by: actorOf(caller), now: core.clock.now() };
      await change(call, actionOn('removeGroupUser', id, ['members'], user), async (_, transaction) => {
        const outcome = await removeMember(transaction, removal);
        if (outcome === 'unknown-user') throw missing(USER.type);
        if (outcome !== 'removed' && outcome !== 'no-member') throw refusal(outcome);
      });
      logAction(call, 'removeGroupUser', id);
      return { status: 204, headers: noStore };
    },
  },
];

interface Addition {
  readonly action: AdminAction;
  /** Returns where the body names an account. */
  readonly pointerTo: (user: UserId) => readonly PropertyKey[];
}

async function add(
  call: AdminCall,
  group: GroupId,
  wanted: readonly UserId[],
  { action, pointerTo }: Addition,
): Promise<Extract<AddOutcome, { ok: true }>> {
  const { core, caller } = call;
  const addition = { group, users: wanted, by: actorOf(caller), now: core.clock.now() };
  return await change(call, action, async (_, transaction) => {
    const outcome = await addMembers(transaction, addition);
    if (outcome.ok) return outcome;
    switch (outcome.reason) {
      case 'unknown-user':
        throw unknownUser(pointerTo(outcome.user));
      case 'full':
        throw invalidMember(pointerTo(outcome.user), `the account already has ${MAX_GROUPS} groups`);
      default:
        throw refusal(outcome.reason);
    }
  });
}

function actionOn(operation: string, id: GroupId, changed: readonly string[], userId?: UserId): AdminAction {
  return { operation, target: { type: GROUP.type, id, userId }, changed };
}

function memberOfPath({ context }: AdminCall): { readonly id: GroupId; readonly user: UserId } {
  const user = parseId<'user'>(context.params['user'] ?? '');
  if (user === undefined) throw new LatchkeyError('invalid_id');
  return { id: idOfPath<'group'>(context), user };
}

/** @param path where the body names the account */
function unknownUser(path: readonly PropertyKey[]): LatchkeyError {
  const { description: problem } = missing(USER.type);
  const pointer = path.map((member) => `/${String(member)}`).join('');
  return new LatchkeyError('not_found', {
    ...(problem !== undefined && { description: problem }),
    ...(pointer !== '' && { members: { pointer } }),
  });
}

/** An empty description is none. */
function described<Body extends { readonly description?: string | null | undefined }>(body: Body): Body {
  return body.description === '' ? { ...body, description: null } : body;
}

function refusal(reason: GroupRefusal): LatchkeyError {
  switch (reason) {
    case 'unknown':
      return missing(GROUP.type);
    case 'exists':
      return new LatchkeyError('group_exists', { members: { pointer: '/name' } });
    case 'external':
      return new LatchkeyError('group_is_external');
    case 'configured':
      return new LatchkeyError('group_is_configured');
    case 'pending':
      return new LatchkeyError('group_is_pending');
  }
}

/** Another request deleted it since. */
function gone(): never {
  throw missing(GROUP.type);
}
