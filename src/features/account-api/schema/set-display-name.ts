/** The display name of a user (account-graphql 5.3). */
import { setDisplayName } from '#domain/accounts/set-display-name.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { actorOf } from '../context/actor.ts';
import { requireSelf } from '../context/authorization.ts';
import { homeserverUnavailable, refusal } from '../context/graphql-refusal.ts';
import { recordIfAdministrator } from '../context/record-action.ts';
import { findUser } from './find-objects.ts';
import { User } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

mutation('setDisplayName', {
  description: 'Sets or removes the display name of a user.',
  input: (t) => ({
    userId: t.id({ required: true }),
    displayName: t.string({ description: 'At most 255 characters; null removes the name.' }),
  }),
  statuses: ['INVALID', 'SET'],
  payload: { user: { type: User } },
  resolve: async ({ userId, displayName }, context) => {
    const id = idOf('User', userId);
    requireSelf(context, id);
    const { core, reads } = context;
    if (reads !== 'anybody' && !core.config.account.displayNameChangeAllowed)
      throw refusal('FEATURE_DISABLED', 'changing display names is disabled');
    const user = await findUser(id, context);
    if (user === undefined) throw new LatchkeyError('not_found');
    const action = { operation: 'setDisplayName', target: { type: 'user', id, userId: id }, changed: ['displayname'] };
    const record = recordIfAdministrator(context, action);
    const outcome = await setDisplayName(core, {
      user,
      displayName: displayName ?? undefined,
      by: actorOf(context, id),
      record,
    });
    context.forget();
    switch (outcome) {
      case 'set':
        return { status: 'SET', user };
      case 'invalid':
        return { status: 'INVALID', user };
      case 'unavailable':
        throw homeserverUnavailable();
    }
  },
});
