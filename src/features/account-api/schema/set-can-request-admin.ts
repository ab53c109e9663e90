/** Which users may request the admin scope (account-graphql 5.5). */
import { setAdmin } from '#domain/accounts/admin-mark.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import { recordedChange } from '#domain/audit/record-admin-action.ts';
import { requireAdmin } from '../context/authorization.ts';
import { recordAs } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
import { mutationWithPayload } from './mutation.ts';
import { idOf } from './node.ts';

const SetCanRequestAdminPayload = builder
  .objectRef<{ readonly user: UserModel | undefined }>('SetCanRequestAdminPayload')
  .implement({ fields: (t) => ({ user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }) }) });

mutationWithPayload('setCanRequestAdmin', SetCanRequestAdminPayload, {
  description: 'Grants or revokes the right to request the admin scope. Administrators only.',
  input: (t) => ({ userId: t.id({ required: true }), canRequestAdmin: t.boolean({ required: true }) }),
  resolve: async ({ userId, canRequestAdmin }, context) => {
    const admin = requireAdmin(context);
    const { clock, database, log } = context.core;
    const user = await findUser(idOf('User', userId), context);
    if (user === undefined) return { user };
    const mark = { user: user.id, isAdmin: canRequestAdmin, by: adminActor(admin), now: clock.now() };
    const target = { type: 'user', id: user.id, userId: user.id };
    const record = recordAs(admin, context, { operation: 'setCanRequestAdmin', target, changed: ['admin'] });
    const isChanged = await recordedChange(database, record, (transaction) => setAdmin(transaction, mark));
    context.forget();
    if (isChanged) {
      log.info('account.admin_set', 'right to request admin scopes changed by administrator', {
        user: user.id,
        may_ask: canRequestAdmin,
        client: admin.clientId,
        admin: admin.userId,
      });
    }
    return { user };
  },
});
