/** Sessions of browsers, of applications and of chat clients (operations 4.6). */
import { z } from 'zod';
import { clients } from '#domain/administration/client-listing.ts';
import {
  type BrowserSessionRecord,
  browserSessions,
  type CompatSessionRecord,
  compatSessions,
  type OAuth2SessionRecord,
  oauth2Sessions,
} from '#domain/administration/session-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import { finishCompatSession } from '#domain/compat-sessions/finish-compat-session.ts';
import { endOAuth2Session } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { idOrNull, type Resource, time, timeOrNull } from '../definition/documents.ts';
import { instant, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  actionOperation,
  getOperation,
  listOperation,
  missing,
  type Operation,
  stored,
} from '../definition/operation.ts';

const common = {
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  user_agent: z.string().nullable(),
  last_active_at: z.iso.datetime().nullable(),
  last_active_ip: z.string().nullable(),
};

function commonOf(session: BrowserSessionRecord | OAuth2SessionRecord | CompatSessionRecord) {
  const { created_at, finished_at, user_agent, last_active_at, last_active_ip } = session;
  return {
    created_at: time(created_at),
    finished_at: timeOrNull(finished_at),
    user_agent,
    last_active_at: timeOrNull(last_active_at),
    last_active_ip,
  };
}

const USER_SESSION: Resource<BrowserSessionRecord> = {
  type: 'user-session',
  path: 'user-sessions',
  attributes: z.object({ ...common, user_id: z.string() }),
  attributesOf: (session) => ({ ...commonOf(session), user_id: fromUuid(session.user_id) }),
};

const OAUTH2_SESSION: Resource<OAuth2SessionRecord> = {
  type: 'oauth2-session',
  path: 'oauth2-sessions',
  attributes: z.object({
    ...common,
    user_id: z.string().nullable(),
    user_session_id: z.string().nullable(),
    client_id: z.string(),
    parent_session_id: z.string().nullable(),
    scope: z.string(),
    human_name: z.string().nullable(),
  }),
  attributesOf: (session) => ({
    ...commonOf(session),
    user_id: idOrNull(session.user_id),
    user_session_id: idOrNull(session.user_session_id),
    client_id: fromUuid(session.client_id),
    parent_session_id: idOrNull(session.parent_session_id),
    scope: session.scope.join(' '),
    human_name: session.human_name,
  }),
};

const COMPAT_SESSION: Resource<CompatSessionRecord> = {
  type: 'compat-session',
  path: 'compat-sessions',
  attributes: z.object({
    ...common,
    user_id: z.string(),
    device_id: z.string().nullable(),
    user_session_id: z.string().nullable(),
    redirect_uri: z.string().nullable(),
    human_name: z.string().nullable(),
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
  user: ulid().optional(),
  status: z.enum(['active', 'finished'], 'active or finished').optional(),
  'created-before': instant().optional(),
  'created-after': instant().optional(),
  'last-active-before': instant().optional(),
  'last-active-after': instant().optional(),
};
const ownedFilters = { ...sessionFilters, 'user-session': ulid().optional() };
const filtersOfBrowsers = z.object(sessionFilters);
const filtersOfChatClients = z.object(ownedFilters);
const filtersOfApplications = z.object({
  ...ownedFilters,
  client: z.array(ulid()).optional(),
  'client-kind': z.enum(['dynamic', 'static'], 'dynamic or static').optional(),
  scope: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'it is no scope')).optional(),
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
    ...BROWSERS,
    filters: filtersOfBrowsers,
    select: selected,
    check: checkUser,
  }),
  getOperation({ id: 'getUserSession', summary: 'Reads a browser session', ...BROWSERS }),
  actionOperation({
    id: 'finishUserSession',
    summary: 'Signs a browser out',
    ...BROWSERS,
    ...FINISH,
    run: async ({ core }, { id, user_id, finished_at }) => {
      await core.activity.flush();
      const end = {
        userId: fromUuid<'user'>(user_id),
        which: fromUuid<'browser-session'>(id),
        reason: 'admin',
        now: core.clock.now(),
      } as const;
      if (finished_at !== null || (await signOut(core, end)) === 0) throw new LatchkeyError('already_finished');
    },
  }),
  listOperation({
    id: 'listOAuth2Sessions',
    summary: 'Lists sessions of applications',
    ...APPLICATIONS,
    filters: filtersOfApplications,
    select: (values) => ({
      ...selected(values),
      browserSession: values['user-session'],
      clients: values.client,
      isClientStatic: values['client-kind'] && values['client-kind'] === 'static',
      scope: values.scope,
    }),
    check: async (call, values) => {
      await checkOwners(call, values);
      for (const id of values.client ?? []) {
        if ((await clients.find(call.core.database, fromUuid(id))) === undefined) throw missing('oauth2-client');
      }
    },
  }),
  getOperation({ id: 'getOAuth2Session', summary: 'Reads a session of an application', ...APPLICATIONS }),
  actionOperation({
    id: 'finishOAuth2Session',
    summary: 'Ends a session of an application with its tokens',
    ...APPLICATIONS,
    ...FINISH,
    run: async ({ core }, { id }) => {
      await core.activity.flush();
      const end = { reason: 'admin', now: core.clock.now(), syncsDevices: core.homeserver.isConnected } as const;
      const isEnded = await endOAuth2Session(core.database, fromUuid<'oauth2-session'>(id), end);
      if (!isEnded) throw new LatchkeyError('already_finished');
    },
  }),
  listOperation({
    id: 'listCompatSessions',
    summary: 'Lists sessions of chat clients',
    ...CHAT_CLIENTS,
    filters: filtersOfChatClients,
    select: (values) => ({ ...selected(values), browserSession: values['user-session'] }),
    check: checkOwners,
  }),
  getOperation({ id: 'getCompatSession', summary: 'Reads a session of a chat client', ...CHAT_CLIENTS }),
  actionOperation({
    id: 'finishCompatSession',
    summary: 'Ends a session of a chat client with its tokens',
    ...CHAT_CLIENTS,
    ...FINISH,
    run: async ({ core }, { id, finished_at }) => {
      await core.activity.flush();
      const end = {
        reason: 'admin',
        now: core.clock.now(),
        address: undefined,
        userAgent: undefined,
        syncsDevices: core.homeserver.isConnected,
      } as const;
      const isEnded = await finishCompatSession(core.database, fromUuid<'compat-session'>(id), end);
      if (finished_at !== null || !isEnded) throw new LatchkeyError('already_finished');
    },
  }),
];
