/** Passkeys of a user (account-graphql 7.1). */
import { authenticatorName } from '#protocol/webauthn/authenticator-names.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { Passkey, passkeyModel, User } from './models.ts';
import { CreationEvent, Node } from './node.ts';

builder.objectType(Passkey, {
  description: 'Passkey, used to sign in without a password.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name set by the user.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    transports: t.stringList({
      description: 'Transports that a browser may use to reach the authenticator.',
      resolve: ({ transports }) => [...transports],
    }),
    backedUp: t.exposeBoolean('isBackedUp', { description: 'The passkey is synchronized between devices.' }),
    aaguid: t.exposeString('aaguid', { nullable: true, description: 'AAGUID of the authenticator, if provided.' }),
    providerName: t.string({
      nullable: true,
      description: 'Name of the authenticator model; null if unknown.',
      resolve: ({ aaguid }) => authenticatorName(aaguid),
    }),
  }),
});

const PasskeyConnection = connectionType('Passkey', Passkey);

builder.objectField(User, 'passkeys', (t) =>
  t.field({
    type: PasskeyConnection,
    description: 'Passkeys of this user.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) => connection('passkey', load.passkeysOfUser, id, {}, given, passkeyModel),
  }),
);
