/** The homeserver's data about a user (account-graphql 4.2). Pages about an account work without it. */
import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import { accountOf } from './find-objects.ts';
import { User, type UserModel } from './models.ts';

interface MatrixUserModel {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly avatarUrl: string | undefined;
  readonly isDeactivated: boolean;
  readonly isAvailable: boolean;
}

const MatrixUser = builder.objectRef<MatrixUserModel>('MatrixUser').implement({
  description: 'Profile of a user at the homeserver.',
  fields: (t) => ({
    mxid: t.string({
      description: 'Full user ID, such as @username:example.org.',
      resolve: ({ username }, _, { core }) => `@${username}:${core.config.homeserver.homeserver}`,
    }),
    displayName: t.exposeString('displayName', { nullable: true }),
    avatarUrl: t.exposeString('avatarUrl', { nullable: true }),
    deactivated: t.exposeBoolean('isDeactivated'),
    available: t.exposeBoolean('isAvailable', {
      description: 'False: the homeserver did not respond or does not know the user; the other fields are unknown.',
    }),
  }),
});

builder.objectFields(User, (t) => ({
  matrix: t.field({
    type: MatrixUser,
    description: 'Profile at the homeserver.',
    resolve: async (user, _, context) => await matrixUser(user, context),
  }),
  chat: t.field({
    type: MatrixUser,
    description: 'Alias of matrix.',
    resolve: async (user, _, context) => await matrixUser(user, context),
  }),
}));

async function matrixUser({ id, username }: UserModel, context: AccountContext): Promise<MatrixUserModel> {
  if (!context.core.homeserver.isConnected) {
    const { displayName, deactivatedAt } = await accountOf(id, context);
    const isDeactivated = deactivatedAt !== undefined;
    return { username, displayName, avatarUrl: undefined, isDeactivated, isAvailable: true };
  }
  const known = await context.load.homeserverUsers(username);
  if (!known.ok)
    return { username, displayName: undefined, avatarUrl: undefined, isDeactivated: false, isAvailable: false };
  return { username, ...known.value, isAvailable: true };
}
