/** Accounts (operations 4.4). */
import { z } from 'zod';
import { findAccount, parseAccountReference } from '#domain/accounts/account-reference.ts';
import { setAdmin } from '#domain/accounts/admin-mark.ts';
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
import { EXAMPLE_ID, filter, flag, text, ulid } from '../definition/fields.ts';
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
  description: 'The account of a person or of a program.',
  attributes: z.object({
    username: z.string().describe('What the person signs in with; the localpart at the homeserver. It never changes.'),
    created_at: z.iso.datetime().describe('When the account was made.'),
    locked_at: z.iso.datetime().nullable().describe('Since when it is locked; null: it is not.'),
    deactivated_at: z.iso.datetime().nullable().describe('Since when it is deactivated; null: it is not.'),
    admin: z.boolean().describe('Whether the person may ask for the scope `urn:mas:admin`.'),
    legacy_guest: z.boolean().describe('Whether it was a guest account of the homeserver that it was imported from.'),
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
  admin: filter(flag(), 'Accounts that may (`true`) or may not (`false`) ask for the scope `urn:mas:admin`.'),
  'legacy-guest': filter(
    flag(),
    'Accounts that were (`true`) or were not (`false`) guests of the homeserver that they were imported from.',
  ),
  'has-active-oauth2-session': filter(
    flag(),
    'Accounts with (`true`) or without (`false`) a live session at an application.',
  ),
  'has-active-compat-session': filter(
    flag(),
    'Accounts with (`true`) or without (`false`) a live session of a chat client.',
  ),
  search: filter(
    text(255),
    'Accounts whose username contains this text, in upper or lower case: 1 to 255 characters.',
    'mar',
  ),
  status: filter(
    z.enum(['active', 'locked', 'deactivated'], 'active, locked or deactivated'),
    'Accounts that are `locked`, that are `deactivated`, or that are neither (`active`).',
  ),
  'active-oauth2-client': filter(
    z.array(ulid()),
    'Accounts with a live session at the application of this id. Given several times: at any of them.',
    EXAMPLE_ID,
  ),
  group: filter(
    text(255),
    'Accounts in the group of exactly this name, by the word of an administrator or of an enabled sign-in provider.',
    'harbour-crew',
  ),
});

const adminBody = z.strictObject({
  admin: z.boolean().describe('Whether the person may ask for the scope `urn:mas:admin` from now on.'),
});
const KINDS = ['browser', 'oauth2', 'compat', 'personal'] as const;
const endBody = z.strictObject({
  kinds: z
    .array(z.enum(KINDS, 'browser, oauth2, compat or personal'))
    .min(1, 'it is empty')
    .default([...KINDS])
    .describe('Which kinds of sessions end; without it, all.'),
});
const endedSessions = z.object({
  meta: z
    .object({
      browser: z.int().min(0).describe('Ended sessions of browsers.'),
      oauth2: z.int().min(0).describe('Ended sessions of applications.'),
      compat: z.int().min(0).describe('Ended sessions of chat clients.'),
      personal: z.int().min(0).describe('Ended personal sessions, in which programs act as this account.'),
    })
    .describe('How many there were of each kind.'),
});
const deactivationBody = z.strictObject({
  skip_erase: z
    .boolean()
    .default(false)
    .describe(
      'Whether what the person wrote, their password, display name, groups, claims and identities at providers are kept.',
    ),
});

export const userOperations: readonly Operation[] = [
  listOperation({
    id: 'listUsers',
    summary: 'Lists accounts',
    description: 'Accounts in the order in which they were made.',
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
  getOperation({ id: 'getUser', summary: 'Reads an account', description: 'One account by its id.', ...SHARED }),
  {
    id: 'getUserByUsername',
    method: 'GET',
    path: 'users/by-username/:username',
    tag: USER.type,
    summary: 'Reads the account with this name',
    description: 'One account by its name, which has to be spelled exactly.',
    answers: [singleAnswer(200, USER)],
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
    summary: 'Lets a person ask for the admin scope, or not any more',
    description:
      'The scope is granted by the next sign-in that asks for it. Where the right is taken away, tokens that have the scope lose it at once.',
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
    description:
      'Tokens and cookies of the person are refused until the account is unlocked; no session ends. The homeserver is told in the background. An account that is locked already keeps the time of the first lock.',
    ...SHARED,
    run: async (call, { id }) => {
      await lockAccount(call.core, { ...changeOf(call, id), end: undefined });
    },
  }),
  actionOperation({
    id: 'unlockUser',
    action: 'unlock',
    summary: 'Unlocks an account',
    description: 'What the person was signed in to works again. The homeserver is told in the background.',
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
    description:
      'All sessions, tokens, addresses, passkeys and second factors of the account are gone when this answers. The homeserver is told in the background. On an account that is deactivated already it is told again only if that failed, or if erasure is asked for now and was not before.',
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
    description:
      'The account itself stays as it is: the person can sign in again. The homeserver drops the devices in the background.',
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
    description: 'The next sign-in needs the password alone. The person is told by mail.',
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
    description:
      'The homeserver comes first: where it fails, nothing is changed. Addresses, sessions and what was erased do not come back, and a locked account stays locked.',
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
