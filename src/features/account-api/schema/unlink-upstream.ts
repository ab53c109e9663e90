/** Listing sign-in methods and removing an upstream account (account-graphql 7.3). */
import { removeLink } from '#domain/upstream/remove-link.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { findLink, findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
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

const STATUSES = ['UNLINKED', 'NOT_FOUND', 'LAST_LOGIN_METHOD', 'MANAGED_BY_PROVIDER'] as const;

interface Unlinked {
  readonly status: (typeof STATUSES)[number];
  readonly user?: UserModel | undefined;
}

const UnlinkUpstreamAccountStatus = builder.enumType('UnlinkUpstreamAccountStatus', { values: STATUSES });
const UnlinkUpstreamAccountInput = builder.inputType('UnlinkUpstreamAccountInput', {
  fields: (t) => ({ linkId: t.id({ required: true }) }),
});
const UnlinkUpstreamAccountPayload = builder.objectRef<Unlinked>('UnlinkUpstreamAccountPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: UnlinkUpstreamAccountStatus }),
    user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }),
  }),
});

builder.mutationField('unlinkUpstreamAccount', (t) =>
  t.field({
    type: UnlinkUpstreamAccountPayload,
    description:
      "Unlinks an account at a sign-in provider from the caller's account, unless it is the only way to " + 'sign in.',
    args: { input: t.arg({ type: UnlinkUpstreamAccountInput, required: true }) },
    resolve: async (_, { input }, context) => await unlink(input.linkId, context),
  }),
);

async function unlink(nodeId: string, context: AccountContext): Promise<Unlinked> {
  const { core, request } = context;
  const { user } = requireBrowser(context);
  const link = await findLink(idOf('UpstreamOAuth2Link', nodeId), context);
  const provider = link === undefined ? undefined : core.upstreamProviders.find(link.providerId);
  if (link === undefined || provider === undefined) return { status: 'NOT_FOUND' };
  requireRecentAuthentication(context);
  if (!provider.isUnlinkAllowed) return await answer('MANAGED_BY_PROVIDER', context, user.id);
  const { database, clock, enabledMethods, sendsNotices } = core;
  const outcome = await removeLink(
    { database, clock, enabledMethods, sendsNotices },
    { userId: user.id, linkId: link.id, provider, address: request.clientAddress, userAgent: request.userAgent },
  );
  if (outcome === 'not-found') return { status: 'NOT_FOUND' };
  return await answer(outcome === 'removed' ? 'UNLINKED' : 'LAST_LOGIN_METHOD', context, user.id);
}

async function answer(status: Unlinked['status'], context: AccountContext, userId: UserModel['id']): Promise<Unlinked> {
  context.forget();
  return { status, user: await findUser(userId, context) };
}
