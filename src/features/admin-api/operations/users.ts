/** Accounts (operations 4.4). */
import { z } from 'zod';
import { deactivateUser } from '#domain/account-changes/deactivate-user.ts';
import { lockAccount } from '#domain/account-changes/lock-account.ts';
import { restoreAccount } from '#domain/account-changes/restore-account.ts';
import { findAccount, parseAccountReference } from '#domain/accounts/account-reference.ts';
import { setAdmin } from '#domain/accounts/admin-mark.ts';
import { unlockUser } from '#domain/accounts/lock-user.ts';
import { clients } from '#domain/administration/client-listing.ts';
import { type UserRecord, users } from '#domain/administration/user-listing.ts';
import { endAllSessions } from '#domain/oauth-sessions/end-all-sessions.ts';
import { removeSecondFactors } from '#domain/second-factors/remove-second-factors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { json } from '#platform/http/response.ts';
import { containing } from '#platform/postgres/like.ts';
import { actorOf, refuseOwnAccount } from '../definition/caller.ts';
import { type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, EXAMPLE_TIME, filter, flag, instant, text, ulid } from '../definition/fields.ts';
import { HOMESERVER_ERRORS, homeserverFailure } from '../definition/homeserver-failure.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  idOfPath,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  record,
  singleResponse,
  stored,
} from '../definition/operation.ts';

export const USER: Resource<UserRecord> = {
  type: 'user',
  path: 'users',
  description: 'Account of a user or a program.',
  accountOf: ({ id }) => id,
  attributes: z.object({
    username: z.string().describe('Username for sign-in, and localpart at the homeserver. It cannot be changed.'),
    display_name: z.string().nullable().describe('Display name; null: none.'),
    email: z.string().nullable().describe('Primary email address, which clients receive; null: no address.'),
    created_at: z.iso.datetime().describe('When the account was created.'),
    locked_at: z.iso.datetime().nullable().describe('When the account was locked; null: not locked.'),
    deactivated_at: z.iso.datetime().nullable().describe('When the account was deactivated; null: not deactivated.'),
    admin: z.boolean().describe('Whether the user may request the scope `urn:mas:admin`.'),
    legacy_guest: z.boolean().describe('Whether it was imported as a guest account of the homeserver.'),
  }),
  attributesOf: (user) => ({
    username: user.username,
    display_name: user.display_name,
    email: user.email,
    created_at: time(user.created_at),
    locked_at: timeOrNull(user.locked_at),
    deactivated_at: timeOrNull(user.deactivated_at),
    admin: user.admin,
    legacy_guest: user.guest,
  }),
};

const SHARED = { resource: USER, source: stored(users) };

const filters = z.object({
  admin: filter(flag(), 'Accounts that may (`true`) or may not (`false`) request the scope `urn:mas:admin`.'),
  'legacy-guest': filter(
    flag(),
    'Accounts that were (`true`) or were not (`false`) imported as guest accounts of the homeserver.',
  ),
  'has-active-oauth2-session': filter(flag(), 'Accounts with (`true`) or without (`false`) an active client session.'),
  'has-active-compat-session': filter(
    flag(),
    'Accounts with (`true`) or without (`false`) an active session of a chat client.',
  ),
  search: filter(
    text(255),
    'Accounts whose username contains this text (case-insensitive): 1 to 255 characters.',
    'mar',
  ),
  'search-in': filter(
    z.enum(['username', 'any'], 'must be username or any'),
    'Where `filter[search]` looks: in the `username` (default), or in the username, the display name and all email ' +
      'addresses (`any`).',
  ),
  'has-second-factor': filter(flag(), 'Accounts with (`true`) or without (`false`) an authenticator app or a passkey.'),
  'active-since': filter(
    instant(),
    'Accounts that were used on the day (UTC) of this time (RFC 3339) or later. Days are kept for a month.',
    EXAMPLE_TIME,
  ),
  status: filter(
    z.enum(['active', 'locked', 'deactivated'], 'must be active, locked or deactivated'),
    'Accounts that are `locked`, `deactivated`, or neither (`active`).',
  ),
  'active-oauth2-client': filter(
    z.array(ulid()),
    'Accounts with an active session at the client with this ID. If given several times: at any of them.',
    EXAMPLE_ID,
  ),
  group: filter(
    text(255),
    'Accounts in the group with exactly this name, set by an administrator or an enabled sign-in provider.',
    'harbour-crew',
  ),
  'registration-token': filter(
    ulid(),
    'Accounts that were created with the registration token with this ID.',
    EXAMPLE_ID,
  ),
});

const adminBody = z.strictObject({
  admin: z.boolean().describe('Whether the user may request the scope `urn:mas:admin`.'),
});
const KINDS = ['browser', 'oauth2', 'compat', 'personal'] as const;
const endBody = z.strictObject({
  kinds: z
    .array(z.enum(KINDS, 'must be browser, oauth2, compat or personal'))
    .min(1, 'must not be empty')
    .default([...KINDS])
    .describe('Kinds of sessions to end. Default: all.'),
});
const endedSessions = z.object({
  meta: z
    .object({
      browser: z.int().min(0).describe('Number of ended browser sessions.'),
      oauth2: z.int().min(0).describe('Number of ended client sessions.'),
      compat: z.int().min(0).describe('Number of ended sessions of chat clients.'),
      personal: z.int().min(0).describe('Number of ended personal sessions that act as this account.'),
    })
    .describe('Number of ended sessions of each kind.'),
});
const deactivationBody = z.strictObject({
  skip_erase: z
    .boolean()
    .default(false)
    .describe(
      "Whether to keep the user's messages, password, names, time zone, groups, claims and identities at " +
        'providers.',
    ),
});

export const userOperations: readonly Operation[] = [
  listOperation({
    id: 'listUsers',
    summary: 'Lists accounts',
    description: 'Accounts, ordered by creation time or by username.',
    ...SHARED,
    filters,
    sorts: ['id', 'username'],
    select: (values) => ({
      admin: values.admin,
      status: values.status,
      guest: values['legacy-guest'],
      ...searchOf(values),
      hasSecondFactor: values['has-second-factor'],
      activeSince: values['active-since'],
      hasOAuth2Session: values['has-active-oauth2-session'],
      hasCompatSession: values['has-active-compat-session'],
      clients: values['active-oauth2-client'],
      group: values.group,
      registrationToken: values['registration-token'],
    }),
    check: async ({ core }, values) => {
      for (const id of values['active-oauth2-client'] ?? []) {
        if ((await clients.find(core.database, fromUuid(id))) === undefined) throw missing('oauth2-client');
      }
    },
  }),
  getOperation({ id: 'getUser', summary: 'Gets an account', description: 'Returns an account by its ID.', ...SHARED }),
  {
    id: 'getUserByUsername',
    method: 'GET',
    path: 'users/by-username/:username',
    tag: USER.type,
    summary: 'Gets an account by username',
    description: 'Returns an account by its username, which is case-sensitive.',
    answers: [singleResponse(200, USER)],
    errors: ['not_found'],
    run: async (call) => {
      const { core, context } = call;
      const username = context.params['username'] ?? '';
      const reference = parseAccountReference(username, core.config.homeserver.homeserver);
      const found = reference.kind === 'name' ? await findAccount(core.database, reference) : undefined;
      const user =
        reference.kind === 'name' && found?.username === reference.name
          ? await users.find(core.database, found.id)
          : undefined;
      if (user === undefined) throw missing('user', 'name');
      return single(200, USER, user, call);
    },
  },
  actionOperation({
    id: 'userSetAdmin',
    action: 'set-admin',
    summary: 'Grants or revokes the right to request the admin scope',
    description:
      'The next sign-in that requests the scope gets it. If the right is revoked, existing tokens lose the ' +
      'scope immediately. Administrators cannot revoke their own right.',
    ...SHARED,
    body: adminBody,
    errors: ['invalid_body', 'not_your_own_account'],
    run: async (call, { id }, action) => {
      const { admin } = await readBody(call.context, adminBody);
      if (!admin) refuseOwnAccount(call.caller, id);
      const mark = { ...changeOf(call, id), isAdmin: admin };
      await change(call, { ...action, changed: ['admin'] }, (_, transaction) => setAdmin(transaction, mark));
    },
  }),
  actionOperation({
    id: 'lockUser',
    action: 'lock',
    summary: 'Locks an account',
    description:
      'Tokens and cookies of the account are rejected until it is unlocked; sessions do not end. The ' +
      'homeserver is notified in the background. If the account is already locked, the lock time does not ' +
      'change. Administrators cannot lock their own account.',
    ...SHARED,
    errors: ['not_your_own_account'],
    run: async (call, { id }, action) => {
      refuseOwnAccount(call.caller, id);
      const lock = { ...changeOf(call, id), end: undefined };
      await change(call, { ...action, changed: ['locked_at'] }, (core) => lockAccount(core, lock));
    },
  }),
  actionOperation({
    id: 'unlockUser',
    action: 'unlock',
    summary: 'Unlocks an account',
    description: 'Existing sessions resume. The homeserver is notified in the background.',
    ...SHARED,
    run: async (call, { id }, action) => {
      const unlock = changeOf(call, id);
      await change(call, { ...action, changed: ['locked_at'] }, ({ homeserver }, transaction) =>
        unlockUser(transaction, homeserver, unlock),
      );
    },
  }),
  actionOperation({
    id: 'deactivateUser',
    action: 'deactivate',
    summary: 'Deactivates an account permanently; its username remains reserved',
    description:
      'All sessions, tokens, email addresses, passkeys and second factors of the account are deleted ' +
      'before the response. The homeserver is notified in the background. For an account that is already ' +
      'deactivated, it is notified only if that failed before, or if erasure is requested for the first ' +
      'time. Administrators cannot deactivate their own account.',
    ...SHARED,
    body: deactivationBody,
    errors: ['invalid_body', 'not_your_own_account'],
    run: async (call, { id }, action) => {
      const { skip_erase } = await readBody(call.context, deactivationBody);
      refuseOwnAccount(call.caller, id);
      const { sendsNotices: isTold } = call.core;
      const { by: actor, ...given } = changeOf(call, id);
      const deactivation = { ...given, by: { kind: 'admin', actor }, isErased: !skip_erase, isTold } as const;
      await change(call, { ...action, changed: ['deactivated_at'] }, ({ homeserver }, transaction) =>
        deactivateUser(transaction, homeserver, deactivation),
      );
    },
  }),
  {
    id: 'killUserSessions',
    method: 'POST',
    path: `${USER.path}/:id/kill-sessions`,
    tag: USER.type,
    summary: 'Ends the sessions of an account, all or some kinds, and revokes their tokens',
    description: 'The user can sign in as before. The homeserver deletes the devices in the background.',
    body: endBody,
    answers: [{ status: 200, schema: endedSessions, description: 'Number of ended sessions of each kind.' }],
    errors: ['invalid_id', 'not_found', 'invalid_body'],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'user'>(context);
      const { kinds } = await readBody(context, endBody);
      if ((await users.find(core.database, id)) === undefined) throw missing('user');
      await core.activity.flush();
      const end = {
        userId: id,
        kinds: new Set(kinds),
        kept: undefined,
        by: { kind: 'admin', actor: actorOf(call.caller) },
        now: core.clock.now(),
      } as const;
      const action = { operation: 'killUserSessions', target: { type: USER.type, id, userId: id } };
      const ended = await change(call, action, (joined) => endAllSessions(joined, end));
      logAction(call, 'killUserSessions', id);
      const counts = {
        browser: ended.browserSessions,
        oauth2: ended.oauth2Sessions,
        compat: ended.compatSessions,
        personal: ended.personalSessions,
      };
      return json(200, { meta: counts });
    },
  },
  actionOperation({
    id: 'userRemoveSecondFactors',
    action: 'remove-second-factors',
    summary: 'Removes the authenticator app and recovery codes of a user who lost them',
    description: 'The next sign-in requires only the password. The user is notified by email.',
    ...SHARED,
    run: async (call, { id }, action) => {
      const removal = changeOf(call, id);
      await change(call, action, ({ sendsNotices }, transaction) =>
        removeSecondFactors(transaction, removal, sendsNotices),
      );
    },
  }),
  actionOperation({
    id: 'reactivateUser',
    action: 'reactivate',
    summary: 'Reactivates a deactivated account',
    description:
      'The homeserver is called first: if it fails, nothing is changed. Email addresses, sessions and ' +
      'erased data are not restored, and a locked account stays locked.',
    ...SHARED,
    errors: HOMESERVER_ERRORS,
    run: async (call, { id }, action) => {
      const { core, context } = call;
      const { user, by } = changeOf(call, id);
      const outcome = await restoreAccount(core, {
        ...{ user, by, unlocks: false, signal: context.signal },
        record: (transaction) => record(call, { ...action, changed: ['deactivated_at'] }, transaction),
      });
      if (typeof outcome !== 'string') throw homeserverFailure(outcome);
    },
  }),
];

function searchOf({ search, 'search-in': place }: z.output<typeof filters>) {
  if (search === undefined) return {};
  const pattern = containing(search);
  return place === 'any' ? { searchAnywhere: pattern } : { search: pattern };
}

function changeOf({ core, caller }: AdminCall, id: string) {
  return { user: fromUuid<'user'>(id), by: actorOf(caller), now: core.clock.now() };
}
