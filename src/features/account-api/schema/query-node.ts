import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import { findDataExport } from './data-export.ts';
import {
  findBrowserSession,
  findClient,
  findCompatSession,
  findConnectedApplication,
  findConsent,
  findEmailAuthentication,
  findLink,
  findOauth2Session,
  findPasskey,
  findProvider,
  findTotpEnrolment,
  findUser,
  findUserEmail,
} from './find-objects.ts';
import { ANONYMOUS, SITE_CONFIG, User } from './models.ts';
import { idOf, Node, type NodeName, parseNodeId } from './node.ts';
import { findSecurityEvent } from './security-events.ts';

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Object by ID; null if it does not exist or belongs to another user.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findNode(parseNodeId(id), context),
  }),
  user: t.field({
    type: User,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findUser(idOf('User', id), context),
  }),
}));

async function findNode(name: NodeName, context: AccountContext): Promise<NodeName | undefined> {
  switch (name.type) {
    case 'Anonymous':
      return ANONYMOUS;
    case 'Authentication':
    case 'CompatSsoLogin':
    case 'UserRecoveryTicket':
      return undefined;
    case 'BrowserSession':
      return await findBrowserSession(name.id, context);
    case 'CompatSession':
      return await findCompatSession(name.id, context);
    case 'ConnectedApplication':
      return await findConnectedApplication(name.id, context);
    case 'Consent':
      return await findConsent(name.id, context);
    case 'DataExport':
      return await findDataExport(name.id, context);
    case 'Oauth2Client':
      return await findClient(name.id, context);
    case 'Oauth2Session':
      return await findOauth2Session(name.id, context);
    case 'Passkey':
      return await findPasskey(name.id, context);
    case 'SecurityEvent':
      return await findSecurityEvent(name.id, context);
    case 'SiteConfig':
      return SITE_CONFIG;
    case 'TotpEnrolment':
      return await findTotpEnrolment(name.id, context);
    case 'UpstreamOAuth2Link':
      return await findLink(name.id, context);
    case 'UpstreamOAuth2Provider':
      return await findProvider(name.id, context);
    case 'User':
      return await findUser(name.id, context);
    case 'UserEmail':
      return await findUserEmail(name.id, context);
    case 'UserEmailAuthentication':
      return await findEmailAuthentication(name.id, context);
  }
}
