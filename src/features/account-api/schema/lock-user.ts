/** Locking, unlocking and reactivating accounts (account-graphql 5.5). */

import { lockAccount } from '#domain/account-changes/lock-account.ts';
import { restoreAccount } from '#domain/account-changes/restore-account.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import { requireAdmin } from '../context/authorization.ts';
import { homeserverUnavailable } from '../context/graphql-refusal.ts';
import { recordAs, withRecord } from '../context/record-action.ts';
import { findUser } from './find-objects.ts';
import { User } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

mutation('lockUser', {
  description: 'Locks an account. Administrators only.',
  input: (t) => ({
    userId: t.id({ required: true }),
    deactivate: t.boolean({ description: "Deactivates the account as well; the user's messages are kept." }),
  }),
  statuses: ['LOCKED', 'NOT_FOUND'],
  payload: { user: { type: User } },
  resolve: async ({ userId, deactivate }, context) => {
    const admin = requireAdmin(context);
    const { core } = context;
    const deactivates = deactivate === true;
    const found = await findUser(idOf('User', userId), context);
    if (found === undefined) return { status: 'NOT_FOUND' };
    const end = deactivates ? { isErased: false } : undefined;
    const target = { type: 'user', id: found.id, userId: found.id };
    const changed = deactivates ? ['locked_at', 'deactivated_at'] : ['locked_at'];
    await withRecord(
      core.database,
      recordAs(admin, context, { operation: 'lockUser', target, changed }),
      async (database) => {
        const lock = { user: found.id, by: adminActor(admin), end, now: core.clock.now() };
        await lockAccount({ ...core, database }, lock);
      },
    );
    context.forget();
    core.log.info('account.locked', 'account locked by administrator', {
      user: found.id,
      deactivated: deactivates,
      client: admin.clientId,
      admin: admin.userId,
    });
    return { status: 'LOCKED', user: found };
  },
});

mutation('unlockUser', {
  description: 'Unlocks and reactivates an account. Administrators only.',
  input: (t) => ({ userId: t.id({ required: true }) }),
  statuses: ['UNLOCKED', 'NOT_FOUND'],
  payload: { user: { type: User } },
  resolve: async ({ userId }, context) => {
    const admin = requireAdmin(context);
    const { core, request } = context;
    const user = idOf('User', userId);
    const changed = ['locked_at', 'deactivated_at'];
    const action = { operation: 'unlockUser', target: { type: 'user', id: user, userId: user }, changed };
    const outcome = await restoreAccount(core, {
      user,
      by: adminActor(admin),
      record: recordAs(admin, context, action),
      unlocks: true,
      signal: request.signal,
    });
    if (outcome === 'not-found') return { status: 'NOT_FOUND' };
    if (outcome !== 'restored') throw homeserverUnavailable();
    context.forget();
    core.log.info('account.unlocked', 'account unlocked by administrator', {
      user,
      client: admin.clientId,
      admin: admin.userId,
    });
    return { status: 'UNLOCKED', user: await findUser(user, context) };
  },
});
