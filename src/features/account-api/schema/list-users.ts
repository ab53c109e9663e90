/** All accounts, and lookup by name (account-graphql 4.1). */
import { usernameKey } from '#domain/accounts/account-names.ts';
import { findAccount, parseAccountReference } from '#domain/accounts/account-reference.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireAdmin } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { User, type UserModel, userModel } from './models.ts';

const UserState = builder.enumType('UserState', {
  description:
    'Active, or locked by an administrator. Deactivated accounts match neither, unless they are locked as well.',
  values: ['ACTIVE', 'LOCKED'] as const,
});
const STATES = { ACTIVE: 'active', LOCKED: 'locked' } as const;

builder.queryFields((t) => ({
  users: t.field({
    type: connectionType('User', User),
    description: 'All accounts. Administrators only.',
    args: {
      state: t.arg({ type: UserState }),
      canRequestAdmin: t.arg.boolean({ description: 'Accounts that may, or may not, request the admin scope.' }),
      ...PAGE_ARGUMENTS,
    },
    resolve: (_, given, context) => {
      requireAdmin(context);
      const { state, canRequestAdmin } = given;
      const filter = {
        state: state === null || state === undefined ? undefined : STATES[state],
        mayAdminister: canRequestAdmin ?? undefined,
        listedAdmins: context.core.policy.data.adminUsers,
      };
      return connection('user', context.load.everybody, 'everybody', filter, given, userModel);
    },
  }),
  userByUsername: t.field({
    type: User,
    nullable: true,
    description:
      'Account by username, compared case-insensitively; null if it does not exist or belongs to another user.',
    args: { username: t.arg.string({ required: true }) },
    resolve: async (_, { username }, context) => await findByName(username, context),
  }),
}));

/** Only administrators can look up names. Otherwise response times would reveal which accounts exist. */
async function findByName(username: string, { caller, core, reads }: AccountContext): Promise<UserModel | undefined> {
  if (caller.kind === 'anonymous') return undefined;
  const reference = parseAccountReference(username, core.config.homeserver.homeserver);
  if (reference.kind === 'id') return undefined;
  if (caller.user !== undefined && usernameKey(caller.user.username) === usernameKey(reference.name))
    return userModel(caller.user);
  if (reads !== 'anybody') return undefined;
  const found = await findAccount(core.database, reference);
  return found === undefined ? undefined : userModel(found);
}
