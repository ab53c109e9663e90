import { LatchkeyError } from '#platform/base/errors.ts';
import type { AuthenticationKind } from '#protocol/oidc/authentication-classes.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { AppSessionConnection } from './app-session.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findBrowserSession, findUser } from './find-objects.ts';
import { type AuthenticationModel, AuthenticationType, appSessionModel, BrowserSession, User } from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';
import { type AnySession, addSessionFields, SESSION_FILTERS, sessionFilter } from './session-fields.ts';

const AuthenticationMethod = builder.enumType('AuthenticationMethod', {
  values: ['PASSWORD', 'UPSTREAM', 'PASSKEY', 'TOTP', 'RECOVERY_CODE'] as const,
});

const METHOD_OF_KIND = {
  password: 'PASSWORD',
  upstream: 'UPSTREAM',
  passkey: 'PASSKEY',
  totp: 'TOTP',
  recovery_code: 'RECOVERY_CODE',
} as const satisfies Record<AuthenticationKind, string>;

builder.objectType(AuthenticationType, {
  description: 'Authentication of a user in a browser.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    methods: t.field({
      type: [AuthenticationMethod],
      resolve: ({ kind }) => [METHOD_OF_KIND[kind]],
    }),
  }),
});

builder.objectType(BrowserSession, {
  description: 'Session of a user in a browser.',
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
    lastAuthentication: t.field({
      type: AuthenticationType,
      nullable: true,
      resolve: async ({ id }, _, { load }): Promise<AuthenticationModel | undefined> => {
        const found = await load.lastAuthentications(id);
        return found === undefined ? undefined : { type: 'Authentication', ...found };
      },
    }),
    appSessions: t.field({
      type: AppSessionConnection,
      description: 'Client sessions that the user authorized in this browser session.',
      args: { ...SESSION_FILTERS, device: t.arg.string(), ...PAGE_ARGUMENTS },
      resolve: ({ id }, given, { load }) => {
        const filter = { ...sessionFilter(given), deviceId: given.device ?? undefined };
        return connection('app_session', load.appSessionsOfBrowserSession, id, filter, given, appSessionModel);
      },
    }),
    isCurrent: t.boolean({
      description: 'Session that sent the request.',
      resolve: ({ id }, _, { caller }) => caller.kind === 'browser' && caller.session.id === id,
    }),
  }),
});

addSessionFields(BrowserSession, ({ id, listed }, { load }) => listed ?? readSession(id, load));

async function readSession(id: BrowserSessionId, load: AccountContext['load']): Promise<AnySession> {
  const found = await load.browserSessions(id);
  // Deleted in the meantime, along with its user.
  if (found === undefined) throw new LatchkeyError('not_found');
  return found;
}

export const BrowserSessionConnection = connectionType('BrowserSession', BrowserSession);

builder.queryField('browserSession', (t) =>
  t.field({
    type: BrowserSession,
    nullable: true,
    description: 'Browser session of the caller, active or ended.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findBrowserSession(idOf('BrowserSession', id), context),
  }),
);
