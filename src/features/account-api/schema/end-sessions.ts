/** Users end their own sessions one by one (account-graphql 5.4). An ended session keeps its original end. */
import { finishCompatSession } from '#domain/compat-sessions/finish-compat-session.ts';
import { endOAuth2Session } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { actorOf, actsAsAdministrator } from '../context/actor.ts';
import { recordIfAdministrator, withRecord } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findBrowserSession, findCompatSession, findOauth2Session } from './find-objects.ts';
import {
  BrowserSession,
  type BrowserSessionModel,
  CompatSession,
  type CompatSessionModel,
  Oauth2Session,
  type Oauth2SessionModel,
} from './models.ts';
import { idOf } from './node.ts';

const STATUSES = ['ENDED', 'NOT_FOUND'] as const;

interface Ended<Model> {
  readonly status: (typeof STATUSES)[number];
  readonly session?: Model | undefined;
}

const EndBrowserSessionStatus = builder.enumType('EndBrowserSessionStatus', { values: STATUSES });
const EndBrowserSessionInput = builder.inputType('EndBrowserSessionInput', {
  fields: (t) => ({ browserSessionId: t.id({ required: true }) }),
});
const EndBrowserSessionPayload = builder.objectRef<Ended<BrowserSessionModel>>('EndBrowserSessionPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: EndBrowserSessionStatus }),
    browserSession: t.field({ type: BrowserSession, nullable: true, resolve: ({ session }) => session }),
  }),
});

const EndCompatSessionStatus = builder.enumType('EndCompatSessionStatus', { values: STATUSES });
const EndCompatSessionInput = builder.inputType('EndCompatSessionInput', {
  fields: (t) => ({ compatSessionId: t.id({ required: true }) }),
});
const EndCompatSessionPayload = builder.objectRef<Ended<CompatSessionModel>>('EndCompatSessionPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: EndCompatSessionStatus }),
    compatSession: t.field({ type: CompatSession, nullable: true, resolve: ({ session }) => session }),
  }),
});

const EndOAuth2SessionStatus = builder.enumType('EndOAuth2SessionStatus', { values: STATUSES });
const EndOAuth2SessionInput = builder.inputType('EndOAuth2SessionInput', {
  fields: (t) => ({ oauth2SessionId: t.id({ required: true }) }),
});
const EndOAuth2SessionPayload = builder.objectRef<Ended<Oauth2SessionModel>>('EndOAuth2SessionPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: EndOAuth2SessionStatus }),
    oauth2Session: t.field({ type: Oauth2Session, nullable: true, resolve: ({ session }) => session }),
  }),
});

builder.mutationFields((t) => ({
  endBrowserSession: t.field({
    type: EndBrowserSessionPayload,
    description: 'Ends a browser session.',
    args: { input: t.arg({ type: EndBrowserSessionInput, required: true }) },
    resolve: async (_, { input }, context) => await endBrowserSession(input.browserSessionId, context),
  }),
  endCompatSession: t.field({
    type: EndCompatSessionPayload,
    description: 'Ends a session of a chat client.',
    args: { input: t.arg({ type: EndCompatSessionInput, required: true }) },
    resolve: async (_, { input }, context) => await endCompatSession(input.compatSessionId, context),
  }),
  endOauth2Session: t.field({
    type: EndOAuth2SessionPayload,
    description: 'Ends a session of a client and revokes its tokens.',
    args: { input: t.arg({ type: EndOAuth2SessionInput, required: true }) },
    resolve: async (_, { input }, context) => await endOauth2Session(input.oauth2SessionId, context),
  }),
}));

async function endBrowserSession(nodeId: string, context: AccountContext): Promise<Ended<BrowserSessionModel>> {
  const id = idOf('BrowserSession', nodeId);
  // The statement that reads the session also checks its owner, who never changes.
  const session = await findBrowserSession(id, context);
  if (session === undefined) return { status: 'NOT_FOUND' };
  const { core, browser, caller, request } = context;
  const { userId } = session;
  const record = recordIfAdministrator(context, {
    operation: 'endBrowserSession',
    target: { type: 'user-session', id, userId },
  });
  await withRecord(core.database, record, async (database) => {
    await signOut({ ...core, database }, { userId, which: id, ...endedBy(context, userId) });
  });
  if (caller.kind === 'browser' && caller.session.id === id) browser.viewers.forget(request);
  context.forget();
  return { status: 'ENDED', session: await findBrowserSession(id, context) };
}

async function endCompatSession(nodeId: string, context: AccountContext): Promise<Ended<CompatSessionModel>> {
  const id = idOf('CompatSession', nodeId);
  const session = await findCompatSession(id, context);
  if (session === undefined) return { status: 'NOT_FOUND' };
  const { database, homeserver } = context.core;
  const { userId } = session;
  const record = recordIfAdministrator(context, {
    operation: 'endCompatSession',
    target: { type: 'compat-session', id, userId },
  });
  const end = { syncsDevices: homeserver.isConnected, ...endedBy(context, userId) };
  await withRecord(database, record, async (joined) => await finishCompatSession(joined, id, end));
  context.forget();
  return { status: 'ENDED', session: await findCompatSession(id, context) };
}

async function endOauth2Session(nodeId: string, context: AccountContext): Promise<Ended<Oauth2SessionModel>> {
  const id = idOf('Oauth2Session', nodeId);
  const session = await findOauth2Session(id, context);
  if (session === undefined) return { status: 'NOT_FOUND' };
  const { database, homeserver } = context.core;
  const { userId } = session;
  const record = recordIfAdministrator(context, {
    operation: 'endOauth2Session',
    target: { type: 'oauth2-session', id, userId },
  });
  const end = { syncsDevices: homeserver.isConnected, ...endedBy(context, userId) };
  await withRecord(database, record, async (joined) => await endOAuth2Session(joined, id, end));
  context.forget();
  return { status: 'ENDED', session: await findOauth2Session(id, context) };
}

/** For the audit log. The client that it names is that of the ended session. */
function endedBy(context: AccountContext, user: UserId | undefined) {
  const { clientId: _, ...actor } = actorOf(context, user);
  const reason: 'admin' | 'logout' = actsAsAdministrator(context.caller, user) ? 'admin' : 'logout';
  return { now: context.core.clock.now(), reason, ...actor };
}
