/** Sessions of browsers, applications and chat clients (operations 4.6). */
import { z } from 'zod';
import { clients } from '#domain/administration/client-listing.ts';
import {
  addressFilters,
  type BrowserSessionRecord,
  browserSessions,
  type CompatSessionRecord,
  compatSessions,
  type OAuth2SessionRecord,
  oauth2Sessions,
} from '#domain/administration/session-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import { finishCompatSession } from '#domain/compat-sessions/finish-compat-session.ts';
import { endOAuth2Session } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type AdminCaller, actorOf } from '../definition/caller.ts';
import { idOrNull, type Resource, time, timeOrNull } from '../definition/documents.ts';
import { clientKind, EXAMPLE_ID, EXAMPLE_TIME, filter, instant, network, scopes, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  type JoinedCore,
  listOperation,
  missing,
  type Operation,
  stored,
} from '../definition/operation.ts';

const common = {
  created_at: z.iso.datetime().describe('When it started.'),
  finished_at: z.iso.datetime().nullable().describe('When it ended; null: active.'),
  user_agent: z.string().nullable().describe('User agent of the last use.'),
  last_active_at: z.iso.datetime().nullable().describe('When it was last used; null: not since it started.'),
  last_active_ip: z.string().nullable().describe('Client address of the last use; null: unknown, or no longer stored.'),
  username: z.string().nullable().describe('Username of the account; null: none.'),
};
const userSessionId = z
  .string()
  .nullable()
  .describe('Browser session in which the user consented; null: none, or deleted.');
const scopeOfSession = z.string().describe('Scopes of its tokens, separated by spaces.');
const nameOfSession = z.string().nullable().describe('Name set by the user; null: none.');

function commonOf(session: BrowserSessionRecord | OAuth2SessionRecord | CompatSessionRecord) {
  const { created_at, finished_at, user_agent, last_active_at, last_active_ip, username } = session;
  return {
    created_at: time(created_at),
    finished_at: timeOrNull(finished_at),
    user_agent,
    last_active_at: timeOrNull(last_active_at),
    last_active_ip,
    username,
  };
}

const USER_SESSION: Resource<BrowserSessionRecord> = {
  type: 'user-session',
  path: 'user-sessions',
  accountOf: ({ user_id }) => user_id,
  description: 'Session of a user in a browser.',
  attributes: z.object({ ...common, user_id: z.string().describe('Account that is signed in.') }),
  attributesOf: (session) => ({ ...commonOf(session), user_id: fromUuid(session.user_id) }),
};

const OAUTH2_SESSION: Resource<OAuth2SessionRecord> = {
  type: 'oauth2-session',
  path: 'oauth2-sessions',
  accountOf: ({ user_id }) => user_id,
  description: 'Session of an OAuth 2.0 client, with its tokens.',
  attributes: z.object({
    ...common,
    user_id: z.string().nullable().describe('Account that granted it; null: the client acts for itself.'),
    user_session_id: userSessionId,
    client_id: z.string().describe('The client.'),
    client_name: z.string().nullable().describe('Name of the client; null: none.'),
    parent_session_id: z
      .string()
      .nullable()
      .describe('Session whose token was exchanged for this one; null: not a token exchange.'),
    scope: scopeOfSession,
    human_name: nameOfSession,
  }),
  attributesOf: (session) => ({
    ...commonOf(session),
    user_id: idOrNull(session.user_id),
    user_session_id: idOrNull(session.user_session_id),
    client_id: fromUuid(session.client_id),
    client_name: session.client_name,
    parent_session_id: idOrNull(session.parent_session_id),
    scope: session.scope.join(' '),
    human_name: session.human_name,
  }),
};

const COMPAT_SESSION: Resource<CompatSessionRecord> = {
  type: 'compat-session',
  path: 'compat-sessions',
  accountOf: ({ user_id }) => user_id,
  description: 'Session of a chat client that signed in through the routes of the homeserver.',
  attributes: z.object({
    ...common,
    user_id: z.string().describe('Account that is signed in.'),
    device_id: z.string().nullable().describe('Device at the homeserver; null: none.'),
    user_session_id: userSessionId,
    redirect_uri: z.string().nullable().describe('Redirect URL of the single sign-on; null: signed in otherwise.'),
    human_name: nameOfSession,
  }),
  attributesOf: (session) => ({
    ...commonOf(session),
    user_id: fromUuid(session.user_id),
    device_id: session.device_id,
    user_session_id: idOrNull(session.user_session_id),
    redirect_uri: session.redirect_uri,
    human_name: session.human_name,
  }),
};

const sessionFilters = {
  address: filter(
    network(),
    'Sessions last used from this IP address, or from a network in CIDR notation. Excludes sessions that were never ' +
      'used, and addresses that are no longer stored.',
    '192.0.2.0/24',
  ),
  user: filter(ulid(), 'Sessions of the account with this ID.', EXAMPLE_ID),
  status: filter(
    z.enum(['active', 'finished'], 'must be active or finished'),
    'Sessions that are active (`active`) or have ended (`finished`).',
  ),
  'created-before': filter(instant(), 'Sessions that started before this time (RFC 3339).', EXAMPLE_TIME),
  'created-after': filter(instant(), 'Sessions that started after this time (RFC 3339).', EXAMPLE_TIME),
  'last-active-before': filter(
    instant(),
    'Sessions last used before this time (RFC 3339). Excludes sessions that were never used.',
    EXAMPLE_TIME,
  ),
  'last-active-after': filter(
    instant(),
    'Sessions last used after this time (RFC 3339). Excludes sessions that were never used.',
    EXAMPLE_TIME,
  ),
};
const ownedFilters = {
  ...sessionFilters,
  'user-session': filter(ulid(), 'Sessions that were started in the browser session with this ID.', EXAMPLE_ID),
};
const filtersOfBrowsers = z.object(sessionFilters);
const filtersOfChatClients = z.object(ownedFilters);
const filtersOfApplications = z.object({
  ...ownedFilters,
  client: filter(
    z.array(ulid()),
    'Sessions of the client with this ID. If given several times: of any of them.',
    EXAMPLE_ID,
  ),
  'client-kind': filter(
    clientKind(),
    'Sessions of clients that are configured (`static`), created by administrators (`managed`), dynamically registered ' +
      '(`dynamic`) or part of the service (`builtin`).',
  ),
  scope: filter(scopes(), 'Sessions with exactly this scope. If given several times: with all of them.', 'openid'),
});

type Filters = z.output<typeof filtersOfBrowsers>;
type OwnedFilters = z.output<typeof filtersOfChatClients>;

function selected(values: Filters) {
  return {
    user: values.user,
    isLive: values.status && values.status === 'active',
    createdBefore: values['created-before'],
    createdAfter: values['created-after'],
    activeBefore: values['last-active-before'],
    activeAfter: values['last-active-after'],
    ...(values.address !== undefined && addressFilters(values.address)),
  };
}

async function checkUser({ core }: AdminCall, { user }: Filters): Promise<void> {
  if (user !== undefined && (await users.find(core.database, fromUuid(user))) === undefined) throw missing('user');
}

async function checkOwners(call: AdminCall, values: OwnedFilters): Promise<void> {
  await checkUser(call, values);
  const session = values['user-session'];
  if (session === undefined) return;
  const found = await browserSessions.find(call.core.database, fromUuid(session));
  if (found === undefined) throw missing('user-session');
}

const BROWSERS = { resource: USER_SESSION, source: stored(browserSessions) };
const APPLICATIONS = { resource: OAUTH2_SESSION, source: stored(oauth2Sessions) };
const CHAT_CLIENTS = { resource: COMPAT_SESSION, source: stored(compatSessions) };

const FINISH = { action: 'finish', errors: ['already_finished'] } as const;

export const sessionOperations: readonly Operation[] = [
  listOperation({
    id: 'listUserSessions',
    summary: 'Lists browser sessions',
    description:
      'Browser sessions of all accounts, ordered by start time. Ended sessions are kept for ' +
      '`retention.finished_sessions`.',
    ...BROWSERS,
    filters: filtersOfBrowsers,
    select: selected,
    check: checkUser,
  }),
  getOperation({
    id: 'getUserSession',
    summary: 'Gets a browser session',
    description: 'Returns a browser session by its ID.',
    ...BROWSERS,
  }),
  actionOperation({
    id: 'finishUserSession',
    summary: 'Ends a browser session',
    description: 'Client sessions that were started in this browser continue, unless their settings end them with it.',
    ...BROWSERS,
    ...FINISH,
    run: (call, session, action) => finish(call, session, action, endBrowserSession),
  }),
  listOperation({
    id: 'listOAuth2Sessions',
    summary: 'Lists client sessions',
    description:
      'Sessions of all clients, ordered by start time. Ended sessions are kept for `retention.finished_sessions`.',
    ...APPLICATIONS,
    filters: filtersOfApplications,
    select: (values) => ({
      ...selected(values),
      browserSession: values['user-session'],
      clients: values.client,
      clientKind: values['client-kind'],
      scope: values.scope,
    }),
    check: async (call, values) => {
      await checkOwners(call, values);
      for (const id of values.client ?? []) {
        if ((await clients.find(call.core.database, fromUuid(id))) === undefined) throw missing('oauth2-client');
      }
    },
  }),
  getOperation({
    id: 'getOAuth2Session',
    summary: 'Gets a client session',
    description: 'Returns a client session by its ID.',
    ...APPLICATIONS,
  }),
  actionOperation({
    id: 'finishOAuth2Session',
    summary: 'Ends a client session and revokes its tokens',
    description: 'The homeserver deletes its device in the background.',
    ...APPLICATIONS,
    ...FINISH,
    run: (call, session, action) => finish(call, session, action, endClientSession),
  }),
  listOperation({
    id: 'listCompatSessions',
    summary: 'Lists sessions of chat clients',
    description:
      'Sessions of chat clients, ordered by start time. Ended sessions are kept for ' +
      '`retention.finished_sessions`.',
    ...CHAT_CLIENTS,
    filters: filtersOfChatClients,
    select: (values) => ({ ...selected(values), browserSession: values['user-session'] }),
    check: checkOwners,
  }),
  getOperation({
    id: 'getCompatSession',
    summary: 'Gets a session of a chat client',
    description: 'Returns a session of a chat client by its ID.',
    ...CHAT_CLIENTS,
  }),
  actionOperation({
    id: 'finishCompatSession',
    summary: 'Ends a session of a chat client and revokes its tokens',
    description: 'The homeserver deletes its device in the background.',
    ...CHAT_CLIENTS,
    ...FINISH,
    run: (call, session, action) => finish(call, session, action, endChatSession),
  }),
];

/** @throws LatchkeyError `already_finished` */
async function finish<Session>(
  call: AdminCall,
  session: Session,
  action: AdminAction,
  end: (core: JoinedCore, caller: AdminCaller, session: Session) => Promise<boolean>,
): Promise<void> {
  await call.core.activity.flush();
  await change(call, { ...action, changed: ['finished_at'] }, async (core) => {
    if (!(await end(core, call.caller, session))) throw new LatchkeyError('already_finished');
  });
}

/** Expects the transaction as the database. @returns whether this call ended it */
export async function endBrowserSession(
  core: JoinedCore,
  caller: AdminCaller,
  { id, user_id, finished_at }: BrowserSessionRecord,
): Promise<boolean> {
  if (finished_at !== null) return false;
  const which = fromUuid<'browser-session'>(id);
  return (await signOut(core, { ...endOf(core, caller), userId: fromUuid<'user'>(user_id), which })) > 0;
}

/** Expects the transaction as the database. @returns whether this call ended it */
export async function endClientSession(
  core: JoinedCore,
  caller: AdminCaller,
  { id }: Pick<OAuth2SessionRecord, 'id'>,
): Promise<boolean> {
  const end = { ...endOf(core, caller), syncsDevices: core.homeserver.isConnected };
  return await endOAuth2Session(core.database, fromUuid<'oauth2-session'>(id), end);
}

/** Expects the transaction as the database. @returns whether this call ended it */
export async function endChatSession(
  core: JoinedCore,
  caller: AdminCaller,
  { id, finished_at }: Pick<CompatSessionRecord, 'finished_at' | 'id'>,
): Promise<boolean> {
  if (finished_at !== null) return false;
  const end = { ...endOf(core, caller), syncsDevices: core.homeserver.isConnected };
  return await finishCompatSession(core.database, fromUuid<'compat-session'>(id), end);
}

function endOf({ clock }: JoinedCore, caller: AdminCaller) {
  return { reason: 'admin', now: clock.now(), detail: actorOf(caller).detail } as const;
}
