/** The display name of a user (account-graphql 5.3). */
import { setDisplayName } from '#domain/accounts/set-display-name.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { AccountContext } from '../context/account-context.ts';
import { actorOf } from '../context/actor.ts';
import { requireSelf } from '../context/authorization.ts';
import { homeserverUnavailable, refusal } from '../context/graphql-refusal.ts';
import { recordIfAdministrator } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
import { idOf } from './node.ts';

const STATUSES = ['INVALID', 'SET'] as const;

interface SetDisplayName {
  readonly status: (typeof STATUSES)[number];
  readonly user?: UserModel | undefined;
}

const SetDisplayNameStatus = builder.enumType('SetDisplayNameStatus', { values: STATUSES });
const SetDisplayNameInput = builder.inputType('SetDisplayNameInput', {
  fields: (t) => ({
    userId: t.id({ required: true }),
    displayName: t.string({ description: 'At most 255 characters; null removes the name.' }),
  }),
});
const SetDisplayNamePayload = builder.objectRef<SetDisplayName>('SetDisplayNamePayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: SetDisplayNameStatus }),
    user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }),
  }),
});

builder.mutationField('setDisplayName', (t) =>
  t.field({
    type: SetDisplayNamePayload,
    description: 'Sets or removes the display name of a user.',
    args: { input: t.arg({ type: SetDisplayNameInput, required: true }) },
    resolve: async (_, { input }, context) => await set(input.userId, input.displayName ?? undefined, context),
  }),
);

async function set(nodeId: string, displayName: string | undefined, context: AccountContext): Promise<SetDisplayName> {
  const id = idOf('User', nodeId);
  requireSelf(context, id);
  const { core, reads } = context;
  if (reads !== 'anybody' && !core.config.account.displayNameChangeAllowed)
    throw refusal('FEATURE_DISABLED', 'changing display names is disabled');
  const user = await findUser(id, context);
  if (user === undefined) throw new LatchkeyError('not_found');
  const action = { operation: 'setDisplayName', target: { type: 'user', id, userId: id }, changed: ['displayname'] };
  const record = recordIfAdministrator(context, action);
  const outcome = await setDisplayName(core, { user, displayName, by: actorOf(context, id), record });
  context.forget();
  switch (outcome) {
    case 'set':
      return { status: 'SET', user };
    case 'invalid':
      return { status: 'INVALID', user };
    case 'unavailable':
      throw homeserverUnavailable();
  }
}
