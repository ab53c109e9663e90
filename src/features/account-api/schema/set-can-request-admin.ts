/** Which users may request the admin scope (account-graphql 5.5). */
import { setAdmin } from '#domain/accounts/admin-mark.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import { recordedChange } from '#domain/audit/record-admin-action.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireAdmin } from '../context/authorization.ts';
import { recordAs } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
import { idOf } from './node.ts';

const SetCanRequestAdminInput = builder.inputType('SetCanRequestAdminInput', {
  fields: (t) => ({ userId: t.id({ required: true }), canRequestAdmin: t.boolean({ required: true }) }),
});
const SetCanRequestAdminPayload = builder
  .objectRef<{ readonly user: UserModel | undefined }>('SetCanRequestAdminPayload')
  .implement({ fields: (t) => ({ user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }) }) });

builder.mutationField('setCanRequestAdmin', (t) =>
  t.field({
    type: SetCanRequestAdminPayload,
    description: 'Grants or revokes the right to request the admin scope. Administrators only.',
    args: { input: t.arg({ type: SetCanRequestAdminInput, required: true }) },
    resolve: async (_, { input }, context) => ({ user: await set(input.userId, input.canRequestAdmin, context) }),
  }),
);

/** @returns undefined if the account does not exist */
async function set(nodeId: string, isAdmin: boolean, context: AccountContext): Promise<UserModel | undefined> {
  const admin = requireAdmin(context);
  const { clock, database, log } = context.core;
  const user = await findUser(idOf('User', nodeId), context);
  if (user === undefined) return undefined;
  const mark = { user: user.id, isAdmin, by: adminActor(admin), now: clock.now() };
  const target = { type: 'user', id: user.id, userId: user.id };
  const record = recordAs(admin, context, { operation: 'setCanRequestAdmin', target, changed: ['admin'] });
  const isChanged = await recordedChange(database, record, (transaction) => setAdmin(transaction, mark));
  context.forget();
  if (isChanged) {
    log.info('account.admin_set', 'right to request admin scopes changed by administrator', {
      user: user.id,
      may_ask: isAdmin,
      client: admin.clientId,
      admin: admin.userId,
    });
  }
  return user;
}
