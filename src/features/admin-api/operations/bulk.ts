/** Changes of many records at once: all of them, or none (operations 4.4, 4.6). */
import { z } from 'zod';
import { lockAccount } from '#domain/account-changes/lock-account.ts';
import { unlockUser } from '#domain/accounts/lock-user.ts';
import { personalSessions } from '#domain/administration/personal-session-listing.ts';
import { browserSessions, compatSessions, oauth2Sessions } from '#domain/administration/session-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import type { ActionTarget } from '#domain/audit/record-admin-action.ts';
import { revokePersonalSession } from '#domain/personal-sessions/revoke-personal-session.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { json } from '#platform/http/response.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { actorOf, refuseOwnAccount } from '../definition/caller.ts';
import { EXAMPLE_ID, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  change,
  type JoinedCore,
  logAction,
  type Operation,
  readBody,
} from '../definition/operation.ts';
import { endBrowserSession, endChatSession, endClientSession } from './sessions.ts';
import { USER } from './users.ts';

const MAX_IDS = 100;

function ids(of: string) {
  return z
    .array(ulid())
    .min(1, 'must not be empty')
    .max(MAX_IDS, `must have at most ${MAX_IDS} IDs`)
    .meta({ examples: [[EXAMPLE_ID]] })
    .describe(`IDs of 1 to ${MAX_IDS} ${of}. If one of them does not exist, nothing is changed.`);
}

const usersBody = z.strictObject({
  action: z.enum(['lock', 'unlock'], 'must be lock or unlock').describe('What to do with the accounts.'),
  ids: ids('accounts'),
});

const KINDS = ['browser', 'oauth2', 'compat', 'personal'] as const;
const sessionsBody = z.strictObject({
  kind: z.enum(KINDS, 'must be browser, oauth2, compat or personal').describe('Kind of the sessions.'),
  ids: ids('sessions of this kind'),
});

const changedAnswer = {
  status: 200,
  schema: z.object({
    meta: z
      .object({
        changed: z.int().min(0).describe('Number of records that were changed. The others were in this state already.'),
      })
      .describe('Result.'),
  }),
  description: 'How many records were changed.',
};

/** Changes one record. @returns whether it changed; undefined if it does not exist */
type ChangeOne = (
  core: JoinedCore,
  transaction: Queryable,
  id: string,
) => Promise<{ readonly isChanged: boolean; readonly userId: string | null } | undefined>;

export const bulkOperations: readonly Operation[] = [
  {
    id: 'bulkUsers',
    method: 'POST',
    // Below a third segment: `users/:id` accepts other methods.
    path: `${USER.path}/bulk/status`,
    tag: USER.type,
    summary: 'Locks or unlocks many accounts',
    description:
      'Does the same as `lockUser` and `unlockUser`, for all accounts or none. Administrators cannot lock their own account.',
    body: usersBody,
    answers: [changedAnswer],
    errors: ['invalid_body', 'not_found', 'not_your_own_account'],
    run: async (call) => {
      const body = await readBody(call.context, usersBody);
      const [by, now] = [actorOf(call.caller), call.core.clock.now()];
      if (body.action === 'lock') for (const id of body.ids) refuseOwnAccount(call.caller, id);
      return await changeAll(call, 'bulkUsers', USER.type, body.ids, 'locked_at', async (core, transaction, id) => {
        const user = await users.find(transaction, fromUuid(id));
        if (user === undefined) return undefined;
        const one = { user: fromUuid<'user'>(id), by, now };
        if (body.action === 'lock') await lockAccount(core, { ...one, end: undefined });
        else await unlockUser(transaction, core.homeserver, one);
        return { isChanged: (user.locked_at === null) === (body.action === 'lock'), userId: id };
      });
    },
  },
  {
    id: 'bulkFinishSessions',
    method: 'POST',
    path: 'sessions/bulk-finish',
    tag: 'user-session',
    summary: 'Ends many sessions of one kind, and revokes their tokens',
    description:
      'Does the same as `finishUserSession`, `finishOAuth2Session`, `finishCompatSession` and `revokePersonalSession`, for ' +
      'all sessions or none. Sessions that have already ended stay as they are.',
    body: sessionsBody,
    answers: [changedAnswer],
    errors: ['invalid_body', 'not_found'],
    run: async (call) => {
      const { kind, ids: sessions } = await readBody(call.context, sessionsBody);
      await call.core.activity.flush();
      const { type, changed, end } = SESSIONS[kind];
      return await changeAll(call, 'bulkFinishSessions', type, sessions, changed, end(call));
    },
  },
];

const SESSIONS: Record<
  (typeof KINDS)[number],
  { readonly type: string; readonly changed: string; readonly end: (call: AdminCall) => ChangeOne }
> = {
  browser: {
    type: 'user-session',
    changed: 'finished_at',
    end: (call) => async (core, transaction, id) => {
      const session = await browserSessions.find(transaction, fromUuid(id));
      return session && { isChanged: await endBrowserSession(core, call.caller, session), userId: session.user_id };
    },
  },
  oauth2: {
    type: 'oauth2-session',
    changed: 'finished_at',
    end: (call) => async (core, transaction, id) => {
      const session = await oauth2Sessions.find(transaction, fromUuid(id));
      return session && { isChanged: await endClientSession(core, call.caller, session), userId: session.user_id };
    },
  },
  compat: {
    type: 'compat-session',
    changed: 'finished_at',
    end: (call) => async (core, transaction, id) => {
      const session = await compatSessions.find(transaction, fromUuid(id));
      return session && { isChanged: await endChatSession(core, call.caller, session), userId: session.user_id };
    },
  },
  personal: {
    type: 'personal-session',
    changed: 'revoked_at',
    end: (call) => async (core, transaction, id) => {
      const session = await personalSessions.find(transaction, fromUuid(id));
      if (session === undefined) return undefined;
      const end = { now: core.clock.now(), by: actorOf(call.caller), syncsDevices: core.homeserver.isConnected };
      const isChanged = await revokePersonalSession(transaction, fromUuid<'personal-session'>(id), end);
      return { isChanged, userId: session.actor_user_id };
    },
  },
};

/** In the order of their IDs, so that two such changes do not wait for each other. */
async function changeAll(
  call: AdminCall,
  operation: string,
  type: string,
  given: readonly string[],
  member: string,
  one: ChangeOne,
) {
  const changed = await change(
    call,
    (targets: readonly ActionTarget[]) => targets.map((target) => ({ operation, target, changed: [member] })),
    async (core, transaction) => {
      const targets: ActionTarget[] = [];
      for (const id of [...new Set(given)].toSorted()) {
        const done = await one(core, transaction, id);
        if (done === undefined) throw absent(type, given.indexOf(id));
        const userId = done.userId === null ? undefined : fromUuid<'user'>(done.userId);
        if (done.isChanged) targets.push({ type, id: fromUuid(id), userId });
      }
      return targets;
    },
  );
  for (const { id } of changed) logAction(call, operation, id);
  return json(200, { meta: { changed: changed.length } });
}

function absent(type: string, index: number): LatchkeyError {
  const pointer = `/ids/${index}`;
  return new LatchkeyError('not_found', {
    description: `${pointer}: no ${type} with this id`,
    members: { pointer },
  });
}
