/** Changes to the confirmed email addresses of an account without a code (account-graphql 5.1). */

import { addUnverifiedEmail } from '#domain/account-changes/add-unverified-email.ts';
import type { ChangedBy } from '#domain/account-changes/record-email-change.ts';
import { removeOwnEmail } from '#domain/account-changes/remove-own-email.ts';
import { setPrimaryEmail } from '#domain/account-changes/set-primary-email.ts';
import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { checkEmailPolicy, emailPolicyOf } from '#domain/accounts/email-authentications/email-policy.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { actorOf } from '../context/actor.ts';
import { requireAdmin } from '../context/authorization.ts';
import { confirmIdentity } from '../context/confirm-identity.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { recordAs, recordIfAdministrator } from '../context/record-action.ts';
import { emailViolations } from './email-violations.ts';
import { findUser, findUserEmail } from './find-objects.ts';
import { User, UserEmail } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

mutation('removeEmail', {
  description: 'Removes an email address. All addresses of the account are notified.',
  input: (t) => ({
    userEmailId: t.id({ required: true }),
    password: t.string({ description: 'Required if the account has a password.' }),
  }),
  statuses: ['REMOVED', 'NOT_FOUND', 'INCORRECT_PASSWORD'],
  payload: { email: { type: UserEmail }, user: { type: User } },
  resolve: async ({ userEmailId, password }, context) => {
    // The statement that reads the address also checks its owner, who never changes.
    const email = await findUserEmail(idOf('UserEmail', userEmailId), context);
    if (email === undefined) return { status: 'NOT_FOUND' };
    requireEmailChangeAllowed(context);
    const { account } = context.core.config;
    const confirmation = await confirmIdentity(context, password);
    if (!confirmation.ok) {
      if (confirmation.reason === 'incorrect-password') return { status: 'INCORRECT_PASSWORD' };
      throw new LatchkeyError('rate_limited', { retryAfterSeconds: confirmation.retryAfterSeconds });
    }
    const deps = { ...context.core, keepsOneEmail: account.keepsOneEmail };
    const target = { type: 'user-email', id: email.id, userId: email.userId };
    const outcome = await removeOwnEmail(deps, email, {
      ...changedBy(context, email.userId),
      record: recordIfAdministrator(context, { operation: 'removeEmail', target }),
    });
    context.forget();
    switch (outcome) {
      case 'removed':
        return { status: 'REMOVED', email, user: await findUser(email.userId, context) };
      case 'not-found':
        return { status: 'NOT_FOUND' };
      case 'last':
        throw refusal('LAST_EMAIL', 'This is the last email address of the account. Add another one first.');
    }
  },
});

mutation('addEmail', {
  description: 'Adds a verified email address. Administrators only.',
  deprecationReason: 'Use startEmailAuthentication.',
  input: (t) => ({
    email: t.string({ required: true }),
    userId: t.id({ required: true }),
    skipVerification: t.boolean({ description: 'No effect: the address is always marked as verified.' }),
    skipPolicyCheck: t.boolean({ description: 'Skips the email policy.' }),
  }),
  statuses: ['ADDED', 'EXISTS', 'INVALID', 'DENIED'],
  payload: { email: { type: UserEmail }, user: { type: User }, violations: { type: ['String'] } },
  resolve: async ({ email: typed, userId, skipPolicyCheck }, context) => {
    const admin = requireAdmin(context);
    const { core, browser, request } = context;
    const user = await findUser(idOf('User', userId), context);
    if (user === undefined) throw new LatchkeyError('not_found');
    const translations = browser.pages.language(request);
    const judged = await checkEmailPolicy(typed, emailPolicyOf(core));
    if (!judged.ok && judged.problems.includes('invalid')) return { status: 'INVALID', user };
    if (!judged.ok && skipPolicyCheck !== true) {
      return { status: 'DENIED', user, violations: emailViolations(translations, judged.problems) };
    }
    const email = judged.ok ? judged.email : parseStoredEmailAddress(typed);
    if (email === undefined) return { status: 'INVALID', user };
    const outcome = await addUnverifiedEmail(core, user.id, email, {
      ...changedBy(context, user.id),
      record: async (transaction, id) => {
        const target = { type: 'user-email', id, userId: user.id };
        await recordAs(admin, context, { operation: 'addEmail', target })(transaction);
      },
    });
    context.forget();
    if (outcome.ok) return { status: 'ADDED', user, email: await findUserEmail(outcome.id, context) };
    switch (outcome.reason) {
      case 'own':
        return { status: 'EXISTS', user };
      case 'in-use':
        return { status: 'DENIED', user, violations: [translations.t('email.of_other_account')] };
      case 'deactivated':
        return { status: 'DENIED', user, violations: [translations.t('email.account_deactivated')] };
    }
  },
});

mutation('setPrimaryEmail', {
  description: 'Makes an email address the primary one, which clients receive.',
  input: (t) => ({ userEmailId: t.id({ required: true }) }),
  statuses: ['SET', 'NOT_FOUND', 'UNVERIFIED'],
  payload: { user: { type: User } },
  resolve: async ({ userEmailId }, context) => {
    const email = await findUserEmail(idOf('UserEmail', userEmailId), context);
    if (email === undefined) return { status: 'NOT_FOUND' };
    requireEmailChangeAllowed(context);
    const target = { type: 'user-email', id: email.id, userId: email.userId };
    const outcome = await setPrimaryEmail(context.core, email, {
      ...changedBy(context, email.userId),
      record: recordIfAdministrator(context, { operation: 'setPrimaryEmail', target, changed: ['primary'] }),
    });
    context.forget();
    return outcome === 'set' ? { status: 'SET', user: await findUser(email.userId, context) } : { status: 'NOT_FOUND' };
  },
});

function requireEmailChangeAllowed({ core, reads }: AccountContext): void {
  if (core.config.account.emailChangeAllowed || reads === 'anybody') return;
  throw refusal('FORBIDDEN', 'Changing email addresses is disabled (account.email_change_allowed).');
}

/** The actor for the audit log and the emails. An administrator's language need not be the user's. */
function changedBy(context: AccountContext, user: UserId): ChangedBy {
  const { browser, reads, request } = context;
  const language = reads === 'anybody' ? undefined : browser.pages.language(request).language;
  return { ...actorOf(context, user), language };
}
