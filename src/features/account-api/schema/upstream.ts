/** Upstream accounts that users sign in with (account-graphql 4.4, 7.3). */
import { LatchkeyError } from '#platform/base/errors.ts';
import { builder } from './builder.ts';
import { connection, connectionOfAll, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findLink, findProvider, findUser } from './find-objects.ts';
import { linkModel, UpstreamOAuth2Link, UpstreamOAuth2Provider, type UpstreamProviderModel, User } from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';

builder.objectType(UpstreamOAuth2Provider, {
  description: 'Sign-in provider.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    issuer: t.string({ nullable: true, resolve: ({ provider }) => provider.issuer }),
    clientId: t.string({
      description: 'Client ID of this service at the provider.',
      resolve: ({ provider }) => provider.clientId,
    }),
    humanName: t.string({ nullable: true, resolve: ({ provider }) => provider.humanName }),
    brandName: t.string({
      nullable: true,
      description: 'Brand whose logo the button shows, for example google.',
      resolve: ({ provider }) => provider.brandName,
    }),
    name: t.string({ description: 'Display name.', resolve: ({ provider }) => provider.name }),
    linkingAllowed: t.boolean({
      description: 'Whether users may link an account at the provider to their existing account.',
      resolve: ({ provider }) => provider.isLinkingEnabled,
    }),
    unlinkingAllowed: t.boolean({
      description: 'Whether users may unlink an account at the provider.',
      resolve: ({ provider }) => provider.isUnlinkAllowed,
    }),
    linkUrl: t.field({
      type: 'Url',
      description: 'URL that links an account at the provider to the account of the current user.',
      resolve: ({ id }, _, { browser }) => browser.urls.origin + browser.urls.upstreamAuthorize(id),
    }),
  }),
});

builder.objectType(UpstreamOAuth2Link, {
  description: 'Account at a sign-in provider that is linked to an account.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'Identifier of the user at the provider.' }),
    humanAccountName: t.exposeString('accountName', {
      nullable: true,
      description: 'Name of the account at the provider.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Last sign-in with it.',
    }),
    provider: t.field({
      type: UpstreamOAuth2Provider,
      resolve: async ({ providerId }, _, context): Promise<UpstreamProviderModel> => {
        const found = await findProvider(providerId, context);
        // The provider was disabled in the meantime.
        if (found === undefined) throw new LatchkeyError('not_found');
        return found;
      },
    }),
    user: t.field({
      type: User,
      nullable: true,
      resolve: async ({ userId }, _, context) => await findUser(userId, context),
    }),
  }),
});

const ProviderConnection = connectionType('UpstreamOAuth2Provider', UpstreamOAuth2Provider);
const LinkConnection = connectionType('UpstreamOAuth2Link', UpstreamOAuth2Link);

builder.objectField(User, 'upstreamOauth2Links', (t) =>
  t.field({
    type: LinkConnection,
    description: 'Linked accounts of this user.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) =>
      connection('upstream_oauth2_link', load.linksOfUser, id, {}, given, linkModel),
  }),
);

builder.queryFields((t) => ({
  upstreamOauth2Providers: t.field({
    type: ProviderConnection,
    description: 'Sign-in providers.',
    args: PAGE_ARGUMENTS,
    resolve: (_, given, context) => {
      const inOrder = context.core.upstream.providers.enabled.toSorted((one, other) => (one.id < other.id ? -1 : 1));
      return connectionOfAll('upstream_oauth2_provider', inOrder, given, async (page) =>
        Promise.all(page.map(({ id }) => findProvider(id, context))),
      );
    },
  }),
  upstreamOauth2Provider: t.field({
    type: UpstreamOAuth2Provider,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findProvider(idOf('UpstreamOAuth2Provider', id), context),
  }),
  upstreamOauth2Link: t.field({
    type: UpstreamOAuth2Link,
    nullable: true,
    description: 'Linked account of the caller.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findLink(idOf('UpstreamOAuth2Link', id), context),
  }),
}));
