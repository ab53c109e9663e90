import type { ClientId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { AppSessionConnection, CompatSessionConnection, Oauth2SessionConnection } from './app-session.ts';
import { BrowserSessionConnection } from './browser-session.ts';
import { builder } from './builder.ts';
import { connection, PAGE_ARGUMENTS } from './connection.ts';
import { accountOf } from './find-objects.ts';
import { appSessionModel, browserSessionModel, User } from './models.ts';
import { idOf, Node } from './node.ts';
import { SESSION_FILTERS, sessionFilter } from './session-fields.ts';

const CompatSessionType = builder.enumType('CompatSessionType', {
  description: 'How a chat client signed in: through the browser, or directly.',
  values: ['SSO_LOGIN', 'UNKNOWN'] as const,
});

// Only the owner and administrators can ever receive this object (account-graphql 2.3).
builder.objectType(User, {
  description: 'User account.',
  interfaces: [Node],
  fields: (t) => ({
    username: t.exposeString('username'),
    createdAt: t.field({
      type: 'DateTime',
      resolve: async (user, _, context) => (await accountOf(user.id, context)).createdAt,
    }),
    lockedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When an administrator locked the account; null if it is not locked.',
      resolve: async (user, _, context) => (await accountOf(user.id, context)).lockedAt,
    }),
    deactivatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: async (user, _, context) => (await accountOf(user.id, context)).deactivatedAt,
    }),
    canRequestAdmin: t.boolean({
      description: 'Whether clients may request the admin scope for this user.',
      resolve: async (user, _, context) => {
        const { username, canRequestAdmin } = await accountOf(user.id, context);
        return context.core.adminRights.mayUserAdminister({ username, can_request_admin: canRequestAdmin });
      },
    }),
    hasPassword: t.boolean({ resolve: async (user, _, context) => (await accountOf(user.id, context)).hasPassword }),
    browserSessions: t.field({
      type: BrowserSessionConnection,
      description: 'Browser sessions of this user.',
      args: { ...SESSION_FILTERS, ...PAGE_ARGUMENTS },
      resolve: ({ id }, given, { load }) =>
        connection('browser_session', load.browserSessionsOfUser, id, sessionFilter(given), given, browserSessionModel),
    }),
    oauth2Sessions: t.field({
      type: Oauth2SessionConnection,
      description: 'Client sessions of this user.',
      args: { ...SESSION_FILTERS, client: t.arg.id(), ...PAGE_ARGUMENTS },
      resolve: async ({ id }, given, context) => {
        const filter = { ...sessionFilter(given), clientId: await knownClient(given.client, context) };
        const { oauth2SessionsOfUser: lists } = context.load;
        return connection('oauth2_session', lists, id, filter, given, appSessionModel);
      },
    }),
    compatSessions: t.field({
      type: CompatSessionConnection,
      description: 'Sessions of chat clients that signed in through the routes of their own protocol.',
      args: { ...SESSION_FILTERS, type: t.arg({ type: CompatSessionType }), ...PAGE_ARGUMENTS },
      resolve: ({ id }, given, { load }) => {
        const isOfSsoLogin = given.type === null || given.type === undefined ? undefined : given.type === 'SSO_LOGIN';
        const filter = { ...sessionFilter(given), isOfSsoLogin };
        return connection('compat_session', load.compatSessionsOfUser, id, filter, given, appSessionModel);
      },
    }),
    appSessions: t.field({
      type: AppSessionConnection,
      description: 'Client sessions, including those of chat clients.',
      args: { ...SESSION_FILTERS, device: t.arg.string(), browserSession: t.arg.id(), ...PAGE_ARGUMENTS },
      resolve: ({ id }, given, { load }) => {
        const { device, browserSession } = given;
        const filter = {
          ...sessionFilter(given),
          deviceId: device ?? undefined,
          browserSessionId: isGiven(browserSession) ? idOf('BrowserSession', browserSession) : undefined,
        };
        return connection('app_session', load.appSessionsOfUser, id, filter, given, appSessionModel);
      },
    }),
  }),
});

async function knownClient(client: string | null | undefined, { load }: AccountContext): Promise<ClientId | undefined> {
  if (!isGiven(client)) return undefined;
  const id = idOf('Oauth2Client', client);
  if ((await load.clients(id)) === undefined) throw refusal('BAD_USER_INPUT', 'client: not found');
  return id;
}

function isGiven(id: string | null | undefined): id is string {
  return id !== null && id !== undefined;
}
