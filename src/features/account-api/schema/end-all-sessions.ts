/** Signing out of all devices (account-graphql 7.6). */
import {
  type EndedEverything,
  endAllSessions,
  type SessionKind as Kind,
} from '#domain/oauth-sessions/end-all-sessions.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';

const KINDS = ['BROWSER', 'OAUTH2', 'COMPAT'] as const;
const DOMAIN_KINDS: Readonly<Record<(typeof KINDS)[number], Kind>> = {
  BROWSER: 'browser',
  OAUTH2: 'oauth2',
  COMPAT: 'compat',
};
const SessionKind = builder.enumType('SessionKind', {
  description:
    'Browser sessions, client sessions, or sessions of chat clients that signed in through the routes of ' +
    'their own protocol.',
  values: KINDS,
});

const EndAllSessionsStatus = builder.enumType('EndAllSessionsStatus', { values: ['ENDED'] as const });
const EndAllSessionsInput = builder.inputType('EndAllSessionsInput', {
  fields: (t) => ({
    kinds: t.field({ type: [SessionKind], defaultValue: [...KINDS] }),
    keepCurrent: t.boolean({ defaultValue: true, description: 'Keeps the browser session that sent the request.' }),
  }),
});
const EndAllSessionsPayload = builder.objectRef<EndedEverything>('EndAllSessionsPayload').implement({
  description: 'Number of ended sessions of each kind.',
  fields: (t) => ({
    status: t.field({ type: EndAllSessionsStatus, resolve: () => 'ENDED' as const }),
    browserSessions: t.exposeInt('browserSessions'),
    oauth2Sessions: t.exposeInt('oauth2Sessions'),
    compatSessions: t.exposeInt('compatSessions'),
  }),
});

builder.mutationField('endAllSessions', (t) =>
  t.field({
    type: EndAllSessionsPayload,
    description: 'Ends all sessions of the caller.',
    args: { input: t.arg({ type: EndAllSessionsInput, required: true }) },
    resolve: async (_, { input }, context) => await endAll(input.kinds ?? KINDS, input.keepCurrent ?? true, context),
  }),
);

async function endAll(
  kinds: readonly (typeof KINDS)[number][],
  keepsCurrent: boolean,
  context: AccountContext,
): Promise<EndedEverything> {
  const { core, browser, request } = context;
  const { user, session } = requireBrowser(context);
  requireRecentAuthentication(context);
  const ended = await endAllSessions(core, {
    userId: user.id,
    kinds: new Set(kinds.map((kind) => DOMAIN_KINDS[kind])),
    kept: keepsCurrent ? session.id : undefined,
    now: core.clock.now(),
    by: { kind: 'person', address: request.clientAddress, userAgent: request.userAgent },
  });
  if (!keepsCurrent && kinds.includes('BROWSER')) browser.viewers.forget(request);
  context.forget();
  return ended;
}
