/** What a user allows applications to do, and revoking it (account-graphql 7.6). */
import { revokeConsent } from '#domain/clients/revoke-consent.ts';
import type { ConnectionFacts } from '#domain/oauth-sessions/list-connected-applications.ts';
import { revokeApplication } from '#domain/oauth-sessions/revoke-application.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser } from '../context/authorization.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import {
  ConnectedApplication,
  type ConnectedApplicationModel,
  Consent,
  clientModel,
  connectedApplicationModel,
  consentModel,
  Oauth2Client,
  User,
} from './models.ts';
import { mutation } from './mutation.ts';
import { CreationEvent, idOf, Node, parseNodeId } from './node.ts';

/**
 * Loads the facts that take longer with more sessions, and are therefore read only on request.
 * @throws GraphQLError `NOT_FOUND` if the last session has just ended
 */
async function factsOf(application: ConnectedApplicationModel, { load }: AccountContext): Promise<ConnectionFacts> {
  const facts = await load.connectionFacts(application);
  if (facts === undefined) throw refusal('NOT_FOUND', 'the client has no active session');
  return facts;
}

builder.objectType(ConnectedApplication, {
  description: 'Client with at least one active session of the user.',
  interfaces: [Node],
  fields: (t) => ({
    client: t.field({ type: Oauth2Client, resolve: ({ client }) => clientModel(client) }),
    firstAuthorizedAt: t.field({
      type: 'DateTime',
      resolve: async (application, _, context) => (await factsOf(application, context)).firstAuthorizedAt,
    }),
    lastActiveAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: async (application, _, context) => (await factsOf(application, context)).lastActiveAt,
    }),
    activeSessions: t.int({
      resolve: async (application, _, context) => (await factsOf(application, context)).activeSessions,
    }),
    scopes: t.stringList({
      description: 'Union of the scopes of all active sessions.',
      resolve: async (application, _, context) => [...(await factsOf(application, context)).scope],
    }),
  }),
});

builder.objectType(Consent, {
  description: 'Consent of the user to scopes of a client.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    client: t.field({ type: Oauth2Client, resolve: ({ client }) => clientModel(client) }),
    scopes: t.field({ type: ['String'], resolve: ({ scope }) => [...scope] }),
  }),
});

const ConnectedApplicationConnection = connectionType('ConnectedApplication', ConnectedApplication);
const ConsentConnection = connectionType('Consent', Consent);

builder.objectFields(User, (t) => ({
  connectedApplications: t.field({
    type: ConnectedApplicationConnection,
    description: 'Clients with an active session of this user.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) =>
      connection('connected_application', load.connectedClientsOfUser, id, {}, given, connectedApplicationModel),
  }),
  consents: t.field({
    type: ConsentConnection,
    description: 'Consents of this user.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) => connection('consent', load.consentsOfUser, id, {}, given, consentModel),
  }),
}));

mutation('revokeApplication', {
  description: 'Ends all sessions of the caller at a client and revokes the consent.',
  input: (t) => ({
    applicationId: t.id({ required: true, description: 'Node ID of a ConnectedApplication or an Oauth2Client.' }),
  }),
  statuses: ['REVOKED', 'NOT_FOUND'],
  payload: { endedSessions: { type: 'Int', nullable: false } },
  resolve: async ({ applicationId }, context) => {
    const { user } = requireBrowser(context);
    const clientId = clientIdOf(applicationId);
    const ended = await revokeApplication(context.core, { userId: user.id, clientId, ...revokedBy(context) });
    context.forget();
    return ended === undefined
      ? { status: 'NOT_FOUND', endedSessions: 0 }
      : { status: 'REVOKED', endedSessions: ended };
  },
});

mutation('revokeConsent', {
  description: 'Revokes the consent for a client, which must ask for it next time. Existing sessions continue.',
  input: (t) => ({ consentId: t.id({ required: true }) }),
  statuses: ['REVOKED', 'NOT_FOUND'],
  resolve: async (input, context) => {
    const { user } = requireBrowser(context);
    const consentId = idOf('Consent', input.consentId);
    const isFound = await revokeConsent(context.core.database, { userId: user.id, consentId, ...revokedBy(context) });
    context.forget();
    return { status: isFound ? 'REVOKED' : 'NOT_FOUND' };
  },
});

/** @throws GraphQLError `BAD_USER_INPUT` */
function clientIdOf(nodeId: string) {
  const name = parseNodeId(nodeId);
  if (name.type === 'ConnectedApplication' || name.type === 'Oauth2Client') return name.id;
  throw refusal('BAD_USER_INPUT', 'invalid id');
}

/** For the audit log. */
function revokedBy({ core, request }: AccountContext) {
  return { now: core.clock.now(), address: request.clientAddress, userAgent: request.userAgent };
}
