/** Locking, unlocking and reactivating accounts (account-graphql 5.5). */

import { lockAccount } from '#domain/account-changes/lock-account.ts';
import { restoreAccount } from '#domain/account-changes/restore-account.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireAdmin } from '../context/authorization.ts';
import { homeserverUnavailable } from '../context/graphql-refusal.ts';
import { recordAs, withRecord } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
import { idOf } from './node.ts';

const LOCK_STATUSES = ['LOCKED', 'NOT_FOUND'] as const;
const UNLOCK_STATUSES = ['UNLOCKED', 'NOT_FOUND'] as const;

interface Changed<Status> {
  readonly status: Status;
  readonly user?: UserModel | undefined;
}
type Locked = Changed<(typeof LOCK_STATUSES)[number]>;
type Unlocked = Changed<(typeof UNLOCK_STATUSES)[number]>;

const LockUserStatus = builder.enumType('LockUserStatus', { values: LOCK_STATUSES });
const LockUserInput = builder.inputType('LockUserInput', {
  fields: (t) => ({
    userId: t.id({ required: true }),
    deactivate: t.boolean({ description: "Deactivates the account as well; the user's messages are kept." }),
  }),
});
const LockUserPayload = builder.objectRef<Locked>('LockUserPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: LockUserStatus }),
    user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }),
  }),
});

const UnlockUserStatus = builder.enumType('UnlockUserStatus', { values: UNLOCK_STATUSES });
const UnlockUserInput = builder.inputType('UnlockUserInput', {
  fields: (t) => ({ userId: t.id({ required: true }) }),
});
const UnlockUserPayload = builder.objectRef<Unlocked>('UnlockUserPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: UnlockUserStatus }),
    user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }),
  }),
});

builder.mutationFields((t) => ({
  lockUser: t.field({
    type: LockUserPayload,
    description: 'Locks an account. Administrators only.',
    args: { input: t.arg({ type: LockUserInput, required: true }) },
    resolve: async (_, { input }, context) => await lock(input.userId, input.deactivate === true, context),
  }),
  unlockUser: t.field({
    type: UnlockUserPayload,
    description: 'Unlocks and reactivates an account. Administrators only.',
    args: { input: t.arg({ type: UnlockUserInput, required: true }) },
    resolve: async (_, { input }, context) => await unlock(input.userId, context),
  }),
}));

async function lock(nodeId: string, deactivates: boolean, context: AccountContext): Promise<Locked> {
  const admin = requireAdmin(context);
  const { core } = context;
  const found = await findUser(idOf('User', nodeId), context);
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
}

async function unlock(nodeId: string, context: AccountContext): Promise<Unlocked> {
  const admin = requireAdmin(context);
  const { core, request } = context;
  const user = idOf('User', nodeId);
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
}
