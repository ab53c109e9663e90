/**
 * Single sign-on logins of chat clients. The user consented in a browser, and a session was created (account-graphql
 * 4.3).
 */
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findCompatSession } from './find-objects.ts';
import { CompatSession, CompatSsoLogin, type SsoLoginModel, ssoLoginModel, User } from './models.ts';
import { Node } from './node.ts';

builder.objectType(CompatSsoLogin, {
  description: 'Single sign-on of a chat client through the browser.',
  interfaces: [Node],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    redirectUri: t.expose('redirectUri', { type: 'Url', description: 'Where the browser was redirected to.' }),
    fulfilledAt: t.expose('fulfilledAt', { type: 'DateTime', nullable: true, description: 'When the user consented.' }),
    exchangedAt: t.expose('exchangedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the session started.',
    }),
    session: t.field({
      type: CompatSession,
      nullable: true,
      resolve: async ({ sessionId }, _, context) =>
        sessionId === undefined ? undefined : await findCompatSession(sessionId, context),
    }),
  }),
});

const CompatSsoLoginConnection = connectionType('CompatSsoLogin', CompatSsoLogin);

builder.objectField(User, 'compatSsoLogins', (t) =>
  t.field({
    type: CompatSsoLoginConnection,
    description: 'Single sign-ons of this user.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) =>
      connection('compat_sso_login', load.ssoLoginsOfUser, id, {}, given, ssoLoginModel),
  }),
);

builder.objectField(CompatSession, 'ssoLogin', (t) =>
  t.field({
    type: CompatSsoLogin,
    nullable: true,
    description: 'Single sign-on that started this session.',
    resolve: async ({ id }, _, { load }): Promise<SsoLoginModel | undefined> => {
      const found = await load.ssoLogins(id);
      return found === undefined ? undefined : ssoLoginModel(found);
    },
  }),
);
