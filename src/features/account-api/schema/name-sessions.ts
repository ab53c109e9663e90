/** Names that users give their applications and chat clients (account-graphql 5.4). */

import { recordedChange } from '#domain/audit/record-admin-action.ts';
import { renameCompatSession } from '#domain/compat-sessions/rename-compat-session.ts';
import { tellDeviceName } from '#domain/homeserver/rename-device.ts';
import { type RenamedSession, renameOAuth2Session } from '#domain/oauth-sessions/rename-oauth2-session.ts';
import type { Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { AccountContext } from '../context/account-context.ts';
import { mayActAsAdministrator } from '../context/actor.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { recordIfAdministrator } from '../context/record-action.ts';
import { findCompatSession, findOauth2Session } from './find-objects.ts';
import { CompatSession, Oauth2Session } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

/** The longest device name that a homeserver accepts. */
const MAX_CHARACTERS = 100;

mutation('setCompatSessionName', {
  description: 'Names a session of a chat client. The name is also the public name of the device.',
  input: (t) => ({
    compatSessionId: t.id({ required: true }),
    humanName: t.string({ required: true, description: `1 to ${MAX_CHARACTERS} characters.` }),
  }),
  statuses: ['NOT_FOUND', 'UPDATED'],
  payload: {
    compatSession: { type: CompatSession },
    oauth2Session: { type: CompatSession, description: 'Alias of compatSession, for older clients.' },
  },
  resolve: async ({ compatSessionId, humanName }, context) => {
    const id = idOf('CompatSession', compatSessionId);
    const name = parseName(humanName);
    const { reads } = context;
    if (reads === undefined) return { status: 'NOT_FOUND' };
    const action = { operation: 'setCompatSessionName', type: 'compat-session', id };
    const renamed = await recorded(context, action, (database) => renameCompatSession(database, id, reads, name));
    if (renamed === undefined) return { status: 'NOT_FOUND' };
    await tell(renamed, name, context);
    const session = await findCompatSession(id, context);
    return { status: 'UPDATED', compatSession: session, oauth2Session: session };
  },
});

mutation('setOauth2SessionName', {
  description: 'Names a session of a client. The name is also the public name of its device, if any.',
  input: (t) => ({
    oauth2SessionId: t.id({ required: true }),
    humanName: t.string({ required: true, description: `1 to ${MAX_CHARACTERS} characters.` }),
  }),
  statuses: ['NOT_FOUND', 'UPDATED'],
  payload: { oauth2Session: { type: Oauth2Session } },
  resolve: async ({ oauth2SessionId, humanName }, context) => {
    const id = idOf('Oauth2Session', oauth2SessionId);
    const name = parseName(humanName);
    const { reads } = context;
    if (reads === undefined) return { status: 'NOT_FOUND' };
    const action = { operation: 'setOauth2SessionName', type: 'oauth2-session', id };
    const renamed = await recorded(context, action, (database) => renameOAuth2Session(database, id, reads, name));
    if (renamed === undefined) return { status: 'NOT_FOUND' };
    await tell(renamed, name, context);
    return { status: 'UPDATED', oauth2Session: await findOauth2Session(id, context) };
  },
});

/** Renames a session. If an administrator does it for another user, records it in the same transaction. */
async function recorded(
  context: AccountContext,
  { operation, type, id }: { readonly operation: string; readonly type: string; readonly id: Ulid },
  rename: (database: Queryable) => Promise<RenamedSession | undefined>,
): Promise<RenamedSession | undefined> {
  const { database } = context.core;
  if (!mayActAsAdministrator(context.caller)) return await rename(database);
  const record = async (transaction: Queryable, renamed: RenamedSession | undefined): Promise<void> => {
    if (renamed === undefined) return;
    const target = { type, id, userId: renamed.user?.id };
    await recordIfAdministrator(context, { operation, target, changed: ['human_name'] })?.(transaction);
  };
  return await recordedChange(database, record, rename);
}

async function tell({ user, deviceId }: RenamedSession, name: string, context: AccountContext): Promise<void> {
  context.forget();
  if (user !== undefined && deviceId !== undefined) await tellDeviceName(context.core, { user, deviceId, name });
}

/** Trims and validates a name. @throws GraphQLError `BAD_USER_INPUT` */
function parseName(text: string): string {
  const name = text.trim();
  const { length } = [...name];
  if (length === 0 || length > MAX_CHARACTERS || /\p{Cc}/u.test(name))
    throw refusal('BAD_USER_INPUT', `humanName must have 1 to ${MAX_CHARACTERS} characters and no control characters`);
  return name;
}
