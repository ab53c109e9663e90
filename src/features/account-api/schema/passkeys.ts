/** Passkeys of a user (account-graphql 7.1). */
import { authenticatorName } from '#protocol/webauthn/authenticator-names.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { Passkey, passkeyModel, User } from './models.ts';
import { CreationEvent, Node } from './node.ts';

builder.objectType(Passkey, {
  description: 'A key by which a person signs in without a password.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As its owner calls it.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    transports: t.stringList({
      description: 'How a browser may reach what keeps it.',
      resolve: ({ transports }) => [...transports],
    }),
    backedUp: t.exposeBoolean('isBackedUp', { description: 'It is on other devices of the person as well.' }),
    aaguid: t.exposeString('aaguid', { nullable: true, description: 'Kind of what keeps it, where that says.' }),
    providerName: t.string({
      nullable: true,
      description: 'What people call that kind; null for one that is not known here.',
      resolve: ({ aaguid }) => authenticatorName(aaguid),
    }),
  }),
});

const PasskeyConnection = connectionType('Passkey', Passkey);

builder.objectField(User, 'passkeys', (t) =>
  t.field({
    type: PasskeyConnection,
    description: 'What this person may sign in with in place of a password.',
    args: PAGE_ARGUMENTS,
    resolve: ({ id }, given, { load }) => connection('passkey', load.passkeysOfUser, id, {}, given, passkeyModel),
  }),
);
