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
  description: 'A chat client that sent somebody to the browser to sign in.',
  interfaces: [Node],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    redirectUri: t.expose('redirectUri', { type: 'Url', description: 'Where the browser took the answer.' }),
    fulfilledAt: t.expose('fulfilledAt', { type: 'DateTime', nullable: true, description: 'When the person agreed.' }),
    exchangedAt: t.expose('exchangedAt', { type: 'DateTime', nullable: true, description: 'When the session began.' }),
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
    description: 'Where chat clients sent this person to the browser to sign in.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) =>
      connection('compat_sso_login', load.ssoLoginsOfUser, id, {}, given, ssoLoginModel),
  }),
);

builder.objectField(CompatSession, 'ssoLogin', (t) =>
  t.field({
    type: CompatSsoLogin,
    nullable: true,
    description: 'By which the chat client signed in.',
    resolve: async ({ id }, _, { load }): Promise<SsoLoginModel | undefined> => {
      const found = await load.ssoLogins(id);
      return found === undefined ? undefined : ssoLoginModel(found);
    },
  }),
);
