/** Users end their own sessions one by one (account-graphql 5.4). An ended session keeps its original end. */
import { finishCompatSession } from '#domain/compat-sessions/finish-compat-session.ts';
import { endOAuth2Session } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { signOut } from '#domain/oauth-sessions/sign-out.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { actorOf, actsAsAdministrator } from '../context/actor.ts';
import { recordIfAdministrator, withRecord } from '../context/record-action.ts';
import { findBrowserSession, findCompatSession, findOauth2Session } from './find-objects.ts';
import { BrowserSession, CompatSession, Oauth2Session } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

mutation('endBrowserSession', {
  description: 'Ends a browser session.',
  input: (t) => ({ browserSessionId: t.id({ required: true }) }),
  statuses: ['ENDED', 'NOT_FOUND'],
  payload: { browserSession: { type: BrowserSession } },
  resolve: async ({ browserSessionId }, context) => {
    const id = idOf('BrowserSession', browserSessionId);
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
    return { status: 'ENDED', browserSession: await findBrowserSession(id, context) };
  },
});

mutation('endCompatSession', {
  description: 'Ends a session of a chat client.',
  input: (t) => ({ compatSessionId: t.id({ required: true }) }),
  statuses: ['ENDED', 'NOT_FOUND'],
  payload: { compatSession: { type: CompatSession } },
  resolve: async ({ compatSessionId }, context) => {
    const id = idOf('CompatSession', compatSessionId);
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
    return { status: 'ENDED', compatSession: await findCompatSession(id, context) };
  },
});

mutation('endOauth2Session', {
  description: 'Ends a session of a client and revokes its tokens.',
  input: (t) => ({ oauth2SessionId: t.id({ required: true }) }),
  statuses: ['ENDED', 'NOT_FOUND'],
  payload: { oauth2Session: { type: Oauth2Session } },
  resolve: async ({ oauth2SessionId }, context) => {
    const id = idOf('Oauth2Session', oauth2SessionId);
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
    return { status: 'ENDED', oauth2Session: await findOauth2Session(id, context) };
  },
});

/** For the audit log. The client that it names is that of the ended session. */
function endedBy(context: AccountContext, user: UserId | undefined) {
  const { clientId: _, ...actor } = actorOf(context, user);
  const reason: 'admin' | 'logout' = actsAsAdministrator(context.caller, user) ? 'admin' : 'logout';
  return { now: context.core.clock.now(), reason, ...actor };
}
