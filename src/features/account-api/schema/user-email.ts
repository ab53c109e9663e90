import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findUserEmail } from './find-objects.ts';
import { User, UserEmail, userEmailModel } from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';

const UserEmailState = builder.enumType('UserEmailState', { values: ['PENDING', 'CONFIRMED'] as const });

builder.objectType(UserEmail, {
  description: 'Verified email address of an account.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    email: t.exposeString('email'),
    isPrimary: t.exposeBoolean('isPrimary', { description: 'This is the address that clients receive.' }),
    confirmedAt: t.field({
      type: 'DateTime',
      nullable: true,
      deprecationReason: 'Equal to createdAt, because all addresses are verified.',
      resolve: ({ createdAt }) => createdAt,
    }),
  }),
});

const UserEmailConnection = connectionType('UserEmail', UserEmail);

builder.objectField(User, 'emails', (t) =>
  t.field({
    type: UserEmailConnection,
    description: 'Verified email addresses of this user.',
    args: {
      state: t.arg({ type: UserEmailState, deprecationReason: 'Ignored, because all addresses are verified.' }),
      ...PAGE_ARGUMENTS,
    },
    resolve: ({ id }, given, { load }) => connection('user_email', load.emailsOfUser, id, {}, given, userEmailModel),
  }),
);

builder.queryField('userEmail', (t) =>
  t.field({
    type: UserEmail,
    nullable: true,
    description: 'Email address of the caller.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findUserEmail(idOf('UserEmail', id), context),
  }),
);
