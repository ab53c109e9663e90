import { builder } from './builder.ts';
import { findClient } from './find-objects.ts';
import { Oauth2Client } from './models.ts';
import { idOf, Node } from './node.ts';

const APPLICATION_TYPES = { web: 'WEB', native: 'NATIVE' } as const;
const Oauth2ApplicationType = builder.enumType('Oauth2ApplicationType', { values: ['WEB', 'NATIVE'] as const });

builder.objectType(Oauth2Client, {
  description: 'An application.',
  interfaces: [Node],
  fields: (t) => ({
    clientId: t.exposeString('identifier', {
      description: 'What it sends as `client_id`: its id, or the address of its metadata document.',
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
    isVerified: t.exposeBoolean('isStatic', {
      description: 'The people who run the service know it; it did not register itself.',
    }),
    redirectUris: t.field({
      type: ['Url'],
      description: 'None for those who are not signed in.',
      resolve: ({ redirectUris }, _, { caller }) => (caller.kind === 'anonymous' ? [] : redirectUris),
    }),
  }),
});

builder.queryField('oauth2Client', (t) =>
  t.field({
    type: Oauth2Client,
    nullable: true,
    description: 'An application by its node id.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findClient(idOf('Oauth2Client', id), context),
  }),
);
