import { builder } from './builder.ts';
import { findClient } from './find-objects.ts';
import { Oauth2Client } from './models.ts';
import { idOf, Node } from './node.ts';

const APPLICATION_TYPES = { web: 'WEB', native: 'NATIVE' } as const;
const Oauth2ApplicationType = builder.enumType('Oauth2ApplicationType', { values: ['WEB', 'NATIVE'] as const });

builder.objectType(Oauth2Client, {
  description: 'OAuth 2.0 client.',
  interfaces: [Node],
  fields: (t) => ({
    clientId: t.exposeString('identifier', {
      description: "Value of `client_id` in requests: the client's ID, or the URL of its metadata document.",
    }),
    clientName: t.exposeString('name', { nullable: true }),
    clientUri: t.expose('clientUri', { type: 'Url', nullable: true }),
    logoUri: t.expose('logoUri', { type: 'Url', nullable: true }),
    tosUri: t.expose('tosUri', { type: 'Url', nullable: true }),
    policyUri: t.expose('policyUri', { type: 'Url', nullable: true }),
    applicationType: t.field({
      type: Oauth2ApplicationType,
      nullable: true,
      resolve: ({ applicationType }) =>
        applicationType === undefined ? undefined : APPLICATION_TYPES[applicationType],
    }),
    isVerified: t.exposeBoolean('isVouchedFor', {
      description: 'Configured by the operator, not dynamically registered.',
    }),
    redirectUris: t.field({
      type: ['Url'],
      description: 'Empty for callers who are not signed in.',
      resolve: ({ redirectUris }, _, { caller }) => (caller.kind === 'anonymous' ? [] : redirectUris),
    }),
  }),
});

builder.queryField('oauth2Client', (t) =>
  t.field({
    type: Oauth2Client,
    nullable: true,
    description: 'Client by node ID.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findClient(idOf('Oauth2Client', id), context),
  }),
);
