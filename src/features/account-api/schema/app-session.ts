import { findSessionOfDevice } from '#domain/oauth-sessions/list-app-sessions.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { builder } from './builder.ts';
import { connectionType } from './connection.ts';
import { findBrowserSession, findCompatSession, findOauth2Session, findUser } from './find-objects.ts';
import {
  appSessionModel,
  BrowserSession,
  CompatSession,
  clientModel,
  Oauth2Client,
  Oauth2Session,
  User,
} from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';
import { addSessionFields } from './session-fields.ts';

builder.objectType(Oauth2Session, {
  description: 'Session of an OAuth 2.0 client, on behalf of a user or of the client itself.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    client: t.field({ type: Oauth2Client, resolve: ({ client }) => clientModel(client) }),
    scope: t.string({ description: 'Separated by spaces.', resolve: ({ scope }) => scope.join(' ') }),
    user: t.field({
      type: User,
      nullable: true,
      resolve: async ({ userId }, _, context) => (userId === undefined ? undefined : await findUser(userId, context)),
    }),
    browserSession: t.field({
      type: BrowserSession,
      nullable: true,
      description: 'Browser session in which the user consented.',
      resolve: async ({ browserSessionId: id }, _, context) =>
        id === undefined ? undefined : await findBrowserSession(id, context),
    }),
    humanName: t.exposeString('humanName', { nullable: true, description: 'Name set by the user.' }),
    deviceId: t.exposeString('deviceId', { nullable: true }),
    isCurrent: t.boolean({
      description: 'Session that sent the request.',
      resolve: ({ id }, _, { caller }) => caller.kind === 'oauth' && caller.sessionId === id,
    }),
  }),
});
addSessionFields(Oauth2Session, (session) => session);

builder.objectType(CompatSession, {
  description: 'Session of a chat client that signed in through the routes of its own protocol.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    user: t.field({
      type: User,
      resolve: async ({ userId }, _, context) => {
        const found = await findUser(userId, context);
        // Deleted in the meantime, along with its sessions.
        if (found === undefined) throw new LatchkeyError('not_found');
        return found;
      },
    }),
    deviceId: t.exposeString('deviceId', { nullable: true }),
    humanName: t.exposeString('humanName', { nullable: true, description: 'Name set by the user.' }),
    browserSession: t.field({
      type: BrowserSession,
      nullable: true,
      description: 'Browser session in which the user consented.',
      resolve: async ({ browserSessionId: id }, _, context) =>
        id === undefined ? undefined : await findBrowserSession(id, context),
    }),
    isCurrent: t.boolean({
      description: 'Always false: chat clients cannot send requests here.',
      resolve: () => false,
    }),
  }),
});
addSessionFields(CompatSession, (session) => session);

export const AppSession = builder.unionType('AppSession', {
  types: [CompatSession, Oauth2Session],
  resolveType: ({ type }) => type,
});
const Session = builder.unionType('Session', {
  types: [CompatSession, Oauth2Session],
  resolveType: ({ type }) => type,
});

export const Oauth2SessionConnection = connectionType('Oauth2Session', Oauth2Session);
export const CompatSessionConnection = connectionType('CompatSession', CompatSession);
export const AppSessionConnection = connectionType('AppSession', AppSession);

builder.queryFields((t) => ({
  oauth2Session: t.field({
    type: Oauth2Session,
    nullable: true,
    description: 'Session of the caller, active or ended.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findOauth2Session(idOf('Oauth2Session', id), context),
  }),
  compatSession: t.field({
    type: CompatSession,
    nullable: true,
    description: 'Session of the caller, active or ended.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findCompatSession(idOf('CompatSession', id), context),
  }),
  session: t.field({
    type: Session,
    nullable: true,
    description: 'Active session on a device of the caller.',
    args: { userId: t.arg.id({ required: true }), deviceId: t.arg.string({ required: true }) },
    resolve: async (_, { userId, deviceId }, { core, reads }) => {
      const id = idOf('User', userId);
      if (reads !== 'anybody' && reads !== id) return undefined;
      const found = await findSessionOfDevice(core.database, id, deviceId);
      return found === undefined ? undefined : appSessionModel(found);
    },
  }),
}));
