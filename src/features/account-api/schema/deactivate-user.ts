/** Deactivation of an account by its owner (account-graphql 5.3). */
import { deactivateOwnAccount } from '#domain/account-changes/deactivate-own-account.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { requireBrowser } from '../context/authorization.ts';
import { confirmIdentity } from '../context/confirm-identity.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { findUser } from './find-objects.ts';
import { User } from './models.ts';
import { mutation } from './mutation.ts';

mutation('deactivateUser', {
  description:
    'Permanently deactivates the account of the caller and ends all sessions. The username remains reserved.',
  input: (t) => ({
    hsErase: t.boolean({ required: true, description: "Asks the homeserver to erase the user's messages." }),
    password: t.string({ description: 'Required if the account has a password.' }),
  }),
  statuses: ['DEACTIVATED', 'INCORRECT_PASSWORD'],
  payload: { user: { type: User } },
  resolve: async ({ hsErase, password }, context) => {
    const { core, browser, request } = context;
    const { user } = requireBrowser(context);
    if (!core.config.account.deactivationAllowed) {
      throw refusal('FEATURE_DISABLED', 'account deactivation is disabled (account.account_deactivation_allowed)');
    }
    const confirmation = await confirmIdentity(context, password, 'account_deactivate');
    if (!confirmation.ok) {
      if (confirmation.reason === 'incorrect-password') return { status: 'INCORRECT_PASSWORD' };
      throw new LatchkeyError('rate_limited', { retryAfterSeconds: confirmation.retryAfterSeconds });
    }
    await deactivateOwnAccount(core, {
      user: user.id,
      isErased: hsErase,
      by: {
        kind: 'person',
        address: request.clientAddress,
        userAgent: request.userAgent,
        language: browser.pages.language(request).language,
      },
    });
    browser.viewers.forget(request);
    context.forget();
    return { status: 'DEACTIVATED', user: await findUser(user.id, context) };
  },
});
