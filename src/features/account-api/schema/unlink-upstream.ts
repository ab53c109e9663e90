/** Listing sign-in methods and removing an upstream account (account-graphql 7.3). */
import { removeLink } from '#domain/upstream/remove-link.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { findLink, findUser } from './find-objects.ts';
import { User } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

const LoginMethod = builder.enumType('LoginMethod', { values: ['PASSWORD', 'UPSTREAM', 'PASSKEY'] as const });
const METHODS = { password: 'PASSWORD', upstream: 'UPSTREAM', passkey: 'PASSKEY' } as const;

builder.objectField(User, 'loginMethods', (t) =>
  t.field({
    type: [LoginMethod],
    description: 'Sign-in methods currently available to this user.',
    resolve: async ({ id }, _, { load }) => (await load.loginMethods(id)).map((method) => METHODS[method]),
  }),
);

mutation('unlinkUpstreamAccount', {
  description:
    "Unlinks an account at a sign-in provider from the caller's account, unless it is the only way to sign in.",
  input: (t) => ({ linkId: t.id({ required: true }) }),
  statuses: ['UNLINKED', 'NOT_FOUND', 'LAST_LOGIN_METHOD', 'MANAGED_BY_PROVIDER'],
  payload: { user: { type: User } },
  resolve: async ({ linkId }, context) => {
    const { core, request } = context;
    const { user } = requireBrowser(context);
    const link = await findLink(idOf('UpstreamOAuth2Link', linkId), context);
    const provider = link === undefined ? undefined : core.upstream.providers.find(link.providerId);
    if (link === undefined || provider === undefined) return { status: 'NOT_FOUND' };
    requireRecentAuthentication(context);
    if (!provider.isUnlinkAllowed) return { status: 'MANAGED_BY_PROVIDER', user: await findUser(user.id, context) };
    const { database, clock, signIn, sendsNotices } = core;
    const outcome = await removeLink(
      { database, clock, signIn, sendsNotices },
      { userId: user.id, linkId: link.id, provider, address: request.clientAddress, userAgent: request.userAgent },
    );
    if (outcome === 'not-found') return { status: 'NOT_FOUND' };
    context.forget();
    const status = outcome === 'removed' ? 'UNLINKED' : 'LAST_LOGIN_METHOD';
    return { status, user: await findUser(user.id, context) };
  },
});
