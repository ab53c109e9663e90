/** Permission to replace the cross-signing keys of a user (account-graphql 5.3). */
import { allowCrossSigningReset } from '#domain/homeserver/allow-cross-signing-reset.ts';
import { actorOf } from '../context/actor.ts';
import { requireRecentAuthentication, requireSelf } from '../context/authorization.ts';
import { homeserverUnavailable, refusal } from '../context/graphql-refusal.ts';
import { recordIfAdministrator } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';
import { mutationWithPayload } from './mutation.ts';
import { idOf } from './node.ts';

const AllowUserCrossSigningResetPayload = builder
  .objectRef<{ readonly user: UserModel | undefined }>('AllowUserCrossSigningResetPayload')
  .implement({ fields: (t) => ({ user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }) }) });

mutationWithPayload('allowUserCrossSigningReset', AllowUserCrossSigningResetPayload, {
  description: 'Allows a user to replace their cross-signing keys for ten minutes.',
  input: (t) => ({ userId: t.id({ required: true }) }),
  resolve: async ({ userId }, context) => {
    const id = idOf('User', userId);
    requireSelf(context, id);
    const { core, browser, reads, request } = context;
    if (!core.homeserver.isConnected)
      throw refusal('NOT_SUPPORTED', 'no homeserver with cross-signing keys is configured');
    requireRecentAuthentication(context, 'cross_signing_reset');
    const user = await findUser(id, context);
    // Only administrators can name a user that does not exist.
    if (user === undefined) return { user };
    // An administrator's language need not be the user's.
    const language = reads === 'anybody' ? undefined : browser.pages.language(request).language;
    const target = { type: 'user', id, userId: id };
    const record = recordIfAdministrator(context, { operation: 'allowUserCrossSigningReset', target });
    const outcome = await allowCrossSigningReset(core, { user, by: actorOf(context, id), record, language });
    if (outcome === 'unavailable') throw homeserverUnavailable();
    return { user };
  },
});
