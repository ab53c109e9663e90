/** Accounts (operations 4.4). */
import { z } from 'zod';
import { setAdmin } from '#domain/accounts/admin-mark.ts';
import { findUserByName } from '#domain/accounts/find-user.ts';
import { unlockUser } from '#domain/accounts/lock-user.ts';
import { clients } from '#domain/administration/client-listing.ts';
import { type UserRecord, users } from '#domain/administration/user-listing.ts';
import { deactivateUser } from '#domain/deactivations/deactivate-user.ts';
import { lockAccount } from '#domain/deactivations/lock-account.ts';
import { restoreAccount } from '#domain/deactivations/restore-account.ts';
import { endAllSessions } from '#domain/oauth-sessions/end-all-sessions.ts';
import { removeSecondFactors } from '#domain/one-time-codes/remove-second-factors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { json } from '#platform/http/response.ts';
import { containing } from '#platform/postgres/like.ts';
import { actorOf } from '../definition/caller.ts';
import { type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { flag, text, ulid } from '../definition/fields.ts';
import { HOMESERVER_ERRORS, homeserverFailure } from '../definition/homeserver-failure.ts';
import {
  type AdminCall,
  actionOperation,
  getOperation,
  idOfPath,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleAnswer,
  stored,
} from '../definition/operation.ts';

export const USER: Resource<UserRecord> = {
  type: 'user',
  path: 'users',
  attributes: z.object({
    username: z.string(),
    created_at: z.iso.datetime(),
    locked_at: z.iso.datetime().nullable(),
    deactivated_at: z.iso.datetime().nullable(),
    admin: z.boolean(),
    legacy_guest: z.boolean(),
  }),
  attributesOf: (user) => ({
    username: user.username,
    created_at: time(user.created_at),
    locked_at: timeOrNull(user.locked_at),
    deactivated_at: timeOrNull(user.deactivated_at),
    admin: user.admin,
    legacy_guest: user.guest,
  }),
};

const SHARED = { resource: USER, source: stored(users) };

const filters = z.object({
  admin: flag().optional(),
  'legacy-guest': flag().optional(),
  'has-active-oauth2-session': flag().optional(),
  'has-active-compat-session': flag().optional(),
  search: text(255).optional(),
  status: z.enum(['active', 'locked', 'deactivated'], 'active, locked or deactivated').optional(),
  'active-oauth2-client': z.array(ulid()).optional(),
  group: text(255).optional(),
});

const adminBody = z.strictObject({ admin: z.boolean() });
const KINDS = ['browser', 'oauth2', 'compat', 'personal'] as const;
const endBody = z.strictObject({
  kinds: z
    .array(z.enum(KINDS, 'browser, oauth2, compat or personal'))
    .min(1, 'it is empty')
    .default([...KINDS]),
});
const endedSessions = z.object({
  meta: z.object({
    browser: z.int().min(0),
    oauth2: z.int().min(0),
    compat: z.int().min(0),
    personal: z.int().min(0),
  }),
});
const deactivationBody = z.strictObject({ skip_erase: z.boolean().default(false) });

export const userOperations: readonly Operation[] = [
  listOperation({
    id: 'listUsers',
    summary: 'Lists accounts',
    ...SHARED,
    filters,
    select: (values) => ({
      admin: values.admin,
      status: values.status,
      guest: values['legacy-guest'],
      search: values.search && containing(values.search),
      hasOAuth2Session: values['has-active-oauth2-session'],
      hasCompatSession: values['has-active-compat-session'],
      clients: values['active-oauth2-client'],
      group: values.group,
    }),
    check: async ({ core }, values) => {
      for (const id of values['active-oauth2-client'] ?? []) {
        if ((await clients.find(core.database, fromUuid(id))) === undefined) throw missing('oauth2-client');
      }
    },
  }),
  getOperation({ id: 'getUser', summary: 'Reads an account', ...SHARED }),
  {
    id: 'getUserByUsername',
    method: 'GET',
    path: 'users/by-username/:username',
    tag: USER.type,
    summary: 'Reads the account with this name',
    answers: [singleAnswer(200, USER)],
    errors: ['not_found'],
    run: async (call) => {
      const { core, context } = call;
      const username = context.params['username'] ?? '';
      const found = username.includes('\0') ? undefined : await findUserByName(core.database, username);
      const user = found?.username === username ? await users.find(core.database, found.id) : undefined;
      if (user === undefined) throw missing('user', 'name');
      return single(200, USER, user, call);
    },
  },
  actionOperation({
    id: 'userSetAdmin',
    action: 'set-admin',
    summary: 'Lets a person ask for the admin scope, or not any more',
    ...SHARED,
    body: adminBody,
    errors: ['invalid_body'],
    run: async (call, { id }) => {
      const { admin } = await readBody(call.context, adminBody);
      const change = { ...changeOf(call, id), isAdmin: admin };
      await call.core.database.transaction((transaction) => setAdmin(transaction, change), { isRepeatable: true });
    },
  }),
  actionOperation({
    id: 'lockUser',
    action: 'lock',
    summary: 'Locks an account: everything is refused to it while that lasts',
    ...SHARED,
    run: async (call, { id }) => {
      await lockAccount(call.core, { ...changeOf(call, id), end: undefined });
    },
  }),
  actionOperation({
    id: 'unlockUser',
    action: 'unlock',
    summary: 'Unlocks an account',
    ...SHARED,
    run: async (call, { id }) => {
      const { database, homeserver } = call.core;
      const change = changeOf(call, id);
      await database.transaction((transaction) => unlockUser(transaction, homeserver, change), { isRepeatable: true });
    },
  }),
  actionOperation({
    id: 'deactivateUser',
    action: 'deactivate',
    summary: 'Ends an account for good; its name stays taken',
    ...SHARED,
    body: deactivationBody,
    errors: ['invalid_body'],
    run: async (call, { id }) => {
      const { skip_erase } = await readBody(call.context, deactivationBody);
      const { database, homeserver, sendsNotices: isTold } = call.core;
      const { by: actor, ...change } = changeOf(call, id);
      const deactivation = { ...change, by: { kind: 'admin', actor }, isErased: !skip_erase, isTold } as const;
      await database.transaction((transaction) => deactivateUser(transaction, homeserver, deactivation), {
        isRepeatable: true,
      });
    },
  }),
  {
    id: 'killUserSessions',
    method: 'POST',
    path: `${USER.path}/:id/kill-sessions`,
    tag: USER.type,
    summary: 'Ends the sessions of an account, of all kinds or of some, with their tokens',
    body: endBody,
    answers: [{ status: 200, schema: endedSessions, description: 'How many sessions of each kind were ended.' }],
    errors: ['invalid_id', 'not_found', 'invalid_body'],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'user'>(context);
      const { kinds } = await readBody(context, endBody);
      if ((await users.find(core.database, id)) === undefined) throw missing('user');
      await core.activity.flush();
      const ended = await endAllSessions(core, {
        userId: id,
        kinds: new Set(kinds),
        kept: undefined,
        by: { kind: 'admin', actor: actorOf(call.caller) },
        now: core.clock.now(),
      });
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
    summary: 'Takes the authenticator app and the recovery codes from a person who lost them',
    ...SHARED,
    run: async (call, { id }) => {
      const { database, sendsNotices } = call.core;
      const removal = changeOf(call, id);
      await database.transaction((transaction) => removeSecondFactors(transaction, removal, sendsNotices), {
        isRepeatable: true,
      });
    },
  }),
  actionOperation({
    id: 'reactivateUser',
    action: 'reactivate',
    summary: 'Lets a deactivated account be used again',
    ...SHARED,
    errors: HOMESERVER_ERRORS,
    run: async (call, { id }) => {
      const { core, context } = call;
      const { user, by } = changeOf(call, id);
      const outcome = await restoreAccount(core, { user, by, unlocks: false, signal: context.signal });
      if (typeof outcome !== 'string') throw homeserverFailure(outcome);
    },
  }),
];

function changeOf({ core, caller }: AdminCall, id: string) {
  return { user: fromUuid<'user'>(id), by: actorOf(caller), now: core.clock.now() };
}
