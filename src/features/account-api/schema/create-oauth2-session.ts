/** Sessions that administrators create for users (account-graphql 5.5). */
import { deviceName } from '#browser/device-name.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import type { Client } from '#domain/clients/client.ts';
import {
  type OrderedSessionOutcome,
  openSessionForAdministrator,
} from '#domain/oauth-sessions/open-for-administrator.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseScope } from '#protocol/oauth/scopes.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireAdmin } from '../context/authorization.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { recordAs } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findOauth2Session, findUser } from './find-objects.ts';
import { Oauth2Session } from './models.ts';
import { mutationWithPayload } from './mutation.ts';
import { idOf } from './node.ts';

interface Created {
  readonly sessionId: OAuth2SessionId;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

const CreateOAuth2SessionPayload = builder.objectRef<Created>('CreateOAuth2SessionPayload').implement({
  fields: (t) => ({
    accessToken: t.exposeString('accessToken', {
      description: 'Valid for five minutes, unless the session is permanent.',
    }),
    refreshToken: t.exposeString('refreshToken', { nullable: true }),
    oauth2Session: t.field({
      type: Oauth2Session,
      resolve: async ({ sessionId }, _, context) => {
        const session = await findOauth2Session(sessionId, context);
        if (session === undefined) throw new LatchkeyError('not_found');
        return session;
      },
    }),
  }),
});

mutationWithPayload('createOauth2Session', CreateOAuth2SessionPayload, {
  description: 'Creates a session of the calling client for a user, with tokens. Administrators only.',
  input: (t) => ({
    userId: t.id({ required: true }),
    scope: t.string({ required: true, description: 'Separated by spaces.' }),
    permanent: t.boolean({
      description: 'The access token is valid as long as the session; no refresh token is issued.',
    }),
  }),
  resolve: async ({ userId, scope, permanent }, context) => {
    const admin = requireAdmin(context);
    return await create(admin, idOf('User', userId), scope, permanent === true, context);
  },
});

async function create(
  admin: ReturnType<typeof requireAdmin>,
  userId: UserId,
  scopeText: string,
  isPermanent: boolean,
  context: AccountContext,
): Promise<Created> {
  const { core, request } = context;
  const client = await core.clients.find(admin.clientId);
  const user = await findUser(userId, context);
  if (client === undefined || user === undefined) throw new LatchkeyError('not_found');
  const scope = readScope(scopeText, client, context);
  const deviceId = core.scopeRules.deviceIdOf(scope);
  const outcome = await openSessionForAdministrator(core, tokenSettings(core.config), {
    user,
    clientId: client.id,
    scope,
    device:
      deviceId === undefined
        ? undefined
        : { id: deviceId, name: deviceName(client, core.config.i18n.defaultLanguage, undefined) },
    isPermanent,
    detail: adminActor(admin).detail,
    record: async (transaction, id) => {
      const target = { type: 'oauth2-session', id, userId: user.id };
      await recordAs(admin, context, { operation: 'createOauth2Session', target })(transaction);
    },
    waiting: request,
  });
  if (!outcome.ok) throw failureOf(outcome.reason);
  context.forget();
  core.log.info('session.created', 'session created for user by administrator', {
    user: user.id,
    session: outcome.sessionId,
    permanent: isPermanent,
    client: admin.clientId,
    admin: admin.userId,
  });
  return outcome;
}

/** @throws GraphQLError `BAD_USER_INPUT` */
function readScope(text: string, client: Client, { core }: AccountContext): readonly string[] {
  const scope = parseScope(text);
  if (scope === undefined) throw refusal('BAD_USER_INPUT', 'scope: empty or malformed');
  const problem = core.scopeRules.setProblem(scope, client.sector !== undefined);
  if (problem !== undefined) throw refusal('BAD_USER_INPUT', `scope: ${problem}`);
  return scope;
}

function failureOf(reason: Extract<OrderedSessionOutcome, { readonly ok: false }>['reason']): LatchkeyError {
  switch (reason) {
    case 'deactivated':
      return new LatchkeyError('account_deactivated');
    case 'locked':
      return new LatchkeyError('account_locked');
    case 'too-many-sessions':
      return new LatchkeyError('too_many_sessions');
    case 'gone':
      return new LatchkeyError('not_found');
  }
}
