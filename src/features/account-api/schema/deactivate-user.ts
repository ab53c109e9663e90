/** Deactivation of an account by its owner (account-graphql 5.3). */
import { deactivateOwnAccount } from '#domain/account-changes/deactivate-own-account.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser } from '../context/authorization.ts';
import { confirmPerson } from '../context/confirm-person.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { builder } from './builder.ts';
import { findUser } from './find-objects.ts';
import { User, type UserModel } from './models.ts';

const STATUSES = ['DEACTIVATED', 'INCORRECT_PASSWORD'] as const;

interface Deactivated {
  readonly status: (typeof STATUSES)[number];
  readonly user?: UserModel | undefined;
}

const DeactivateUserStatus = builder.enumType('DeactivateUserStatus', { values: STATUSES });
const DeactivateUserInput = builder.inputType('DeactivateUserInput', {
  fields: (t) => ({
    hsErase: t.boolean({ required: true, description: "Asks the homeserver to erase the user's messages." }),
    password: t.string({ description: 'Required if the account has a password.' }),
  }),
});
const DeactivateUserPayload = builder.objectRef<Deactivated>('DeactivateUserPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: DeactivateUserStatus }),
    user: t.field({ type: User, nullable: true, resolve: ({ user }) => user }),
  }),
});

builder.mutationField('deactivateUser', (t) =>
  t.field({
    type: DeactivateUserPayload,
    description:
      'Permanently deactivates the account of the caller and ends all sessions. The username remains reserved.',
    args: { input: t.arg({ type: DeactivateUserInput, required: true }) },
    resolve: async (_, { input }, context) => await deactivate(input, context),
  }),
);

async function deactivate(
  { hsErase, password }: { readonly hsErase: boolean; readonly password?: string | null | undefined },
  context: AccountContext,
): Promise<Deactivated> {
  const { core, browser, request } = context;
  const { user } = requireBrowser(context);
  if (!core.config.account.deactivationAllowed) {
    throw refusal('FEATURE_DISABLED', 'account deactivation is disabled (account.account_deactivation_allowed)');
  }
  const confirmation = await confirmPerson(context, password, 'account_deactivate');
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
}
