import { findAppSessions } from '#domain/oauth-sessions/list-app-sessions.ts';
import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import {
  ANONYMOUS,
  Anonymous,
  appSessionModel,
  BrowserSession,
  type BrowserSessionModel,
  Oauth2Session,
  User,
  userModel,
} from './models.ts';
import { Node } from './node.ts';

builder.objectType(Anonymous, { description: 'Caller who is not signed in.', interfaces: [Node] });

const Viewer = builder.unionType('Viewer', { types: [User, Anonymous], resolveType: ({ type }) => type });
const ViewerSession = builder.unionType('ViewerSession', {
  types: [BrowserSession, Oauth2Session, Anonymous],
  resolveType: ({ type }) => type,
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description: 'The caller.',
    resolve: (_, __, context) => currentUser(context) ?? ANONYMOUS,
  }),
  viewerSession: t.field({
    type: ViewerSession,
    description: 'Session of the caller.',
    resolve: async (_, __, context) => (await currentSession(context)) ?? ANONYMOUS,
  }),
  currentUser: t.field({
    type: User,
    nullable: true,
    deprecationReason: 'Use viewer.',
    resolve: (_, __, context) => currentUser(context),
  }),
  currentBrowserSession: t.field({
    type: BrowserSession,
    nullable: true,
    deprecationReason: 'Use viewerSession.',
    resolve: (_, __, context) => currentBrowserSession(context),
  }),
}));

function currentUser({ caller }: AccountContext) {
  return caller.kind === 'anonymous' || caller.user === undefined ? undefined : userModel(caller.user);
}

async function currentSession(context: AccountContext) {
  const { caller } = context;
  if (caller.kind !== 'oauth') return currentBrowserSession(context);
  const { database } = context.core;
  // Also finds a client's session without a user, which has no owner.
  const [found] = await findAppSessions(database, [caller.sessionId], 'anybody');
  const model = found === undefined ? undefined : appSessionModel(found);
  return model?.type === 'Oauth2Session' ? model : undefined;
}

/** The caller was identified by this session, so it is not read a second time. */
function currentBrowserSession({ caller }: AccountContext): BrowserSessionModel | undefined {
  if (caller.kind !== 'browser') return undefined;
  const { id, createdAt } = caller.session;
  return { type: 'BrowserSession', id, userId: caller.user.id, createdAt, listed: undefined };
}
