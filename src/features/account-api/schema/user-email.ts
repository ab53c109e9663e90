import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findUserEmail } from './find-objects.ts';
import { User, UserEmail, userEmailModel } from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';

const UserEmailState = builder.enumType('UserEmailState', { values: ['PENDING', 'CONFIRMED'] as const });

builder.objectType(UserEmail, {
  description: 'A confirmed e-mail address of an account.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    email: t.exposeString('email'),
    isPrimary: t.exposeBoolean('isPrimary', { description: 'Applications get this address of the account.' }),
    confirmedAt: t.field({
      type: 'DateTime',
      nullable: true,
      deprecationReason: 'All addresses are confirmed: it is createdAt.',
      resolve: ({ createdAt }) => createdAt,
    }),
  }),
});

const UserEmailConnection = connectionType('UserEmail', UserEmail);

builder.objectField(User, 'emails', (t) =>
  t.field({
    type: UserEmailConnection,
    description: 'The confirmed e-mail addresses of this person.',
    args: {
      state: t.arg({ type: UserEmailState, deprecationReason: 'All addresses are confirmed: it is ignored.' }),
      ...PAGE_ARGUMENTS,
    },
    resolve: ({ id }, given, { load }) =>
      connection('user_email', load.emailsOfUser, id, undefined, given, userEmailModel),
  }),
);

builder.queryField('userEmail', (t) =>
  t.field({
    type: UserEmail,
    nullable: true,
    description: 'An e-mail address of one’s own.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findUserEmail(idOf('UserEmail', id), context),
  }),
);
