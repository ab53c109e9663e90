/** Signing out of all devices (account-graphql 7.6). */
import { endAllSessions, type SessionKind as Kind } from '#domain/oauth-sessions/end-all-sessions.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { mutation } from './mutation.ts';

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

mutation('endAllSessions', {
  description: 'Ends all sessions of the caller.',
  input: (t) => ({
    kinds: t.field({ type: [SessionKind], defaultValue: [...KINDS] }),
    keepCurrent: t.boolean({ defaultValue: true, description: 'Keeps the browser session that sent the request.' }),
  }),
  statuses: ['ENDED'],
  payload: {
    browserSessions: { type: 'Int', nullable: false },
    oauth2Sessions: { type: 'Int', nullable: false },
    compatSessions: { type: 'Int', nullable: false },
  },
  payloadDescription: 'Number of ended sessions of each kind.',
  resolve: async (input, context) => {
    const kinds = input.kinds ?? KINDS;
    const keepsCurrent = input.keepCurrent ?? true;
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
    return { status: 'ENDED', ...ended };
  },
});
