/** Confirmed email addresses of accounts (operations 4.5). */
import { z } from 'zod';
import { addUnverifiedEmail } from '#domain/account-changes/add-unverified-email.ts';
import { recordEmailChange } from '#domain/account-changes/record-email-change.ts';
import { parseEmailAddress, parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { removeEmail } from '#domain/accounts/user-emails.ts';
import { type UserEmailRecord, userEmails } from '#domain/administration/email-listing.ts';
import { users } from '#domain/administration/user-listing.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { type Resource, single, time } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, ulid } from '../definition/fields.ts';
import {
  actionOperation,
  change,
  getOperation,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  record,
  singleResponse,
  stored,
} from '../definition/operation.ts';

const USER_EMAIL: Resource<UserEmailRecord> = {
  type: 'user-email',
  path: 'user-emails',
  description: 'Verified email address of an account.',
  accountOf: ({ user_id }) => user_id,
  attributes: z.object({
    created_at: z.iso.datetime().describe('When it was added.'),
    user_id: z.string().describe('Account of the address.'),
    email: z.string().describe('Email address, as entered.'),
    primary: z.boolean().describe('Whether this is the address that clients receive.'),
  }),
  attributesOf: ({ created_at, user_id, email, is_primary }) => ({
    created_at: time(created_at),
    user_id: fromUuid(user_id),
    email,
    primary: is_primary,
  }),
};

const SHARED = { resource: USER_EMAIL, source: stored(userEmails) };
const addressBody = z.strictObject({
  user_id: ulid().describe('Account to add it to.'),
  email: z.string().describe('Email address; marked as verified without sending an email.'),
});

export const userEmailOperations: readonly Operation[] = [
  listOperation({
    id: 'listUserEmails',
    summary: 'Lists verified email addresses',
    description: 'Email addresses of all accounts, ordered by when they were added.',
    ...SHARED,
    filters: z.object({
      user: filter(ulid(), 'Email addresses of the account with this ID.', EXAMPLE_ID),
      email: filter(
        z.string().max(255),
        'Exactly this email address (case-insensitive); no partial matches.',
        'maren@mail.example',
      ),
    }),
    select: ({ user, email }) => ({ user, key: email === undefined ? undefined : keyOfFilter(email) }),
    check: async ({ core }, { user }) => {
      if (user !== undefined && (await users.find(core.database, fromUuid(user))) === undefined) throw missing('user');
    },
  }),
  getOperation({
    id: 'getUserEmail',
    summary: 'Gets an email address',
    description: 'Returns an email address by its ID.',
    ...SHARED,
  }),
  {
    id: 'addUserEmail',
    method: 'POST',
    path: USER_EMAIL.path,
    tag: USER_EMAIL.type,
    summary: 'Adds a verified email address to an account',
    description:
      'No verification email is sent, and the email policy is not applied. An address can belong to one ' +
      'account only (case-insensitive).',
    body: addressBody,
    answers: [singleResponse(201, USER_EMAIL)],
    errors: ['invalid_body', 'not_found', 'invalid_email', 'email_in_use'],
    run: async (call) => {
      const { core, context } = call;
      const { user_id, email: typed } = await readBody(context, addressBody);
      const email = parseEmailAddress(typed);
      if (email === undefined) throw new LatchkeyError('invalid_email', { members: { pointer: '/email' } });
      const userId = fromUuid<'user'>(user_id);
      const outcome = await addUnverifiedEmail(core, userId, email, {
        ...actorOf(call.caller),
        record: (transaction, id) =>
          record(call, { operation: 'addUserEmail', target: { type: USER_EMAIL.type, id, userId } }, transaction),
      });
      if (!outcome.ok) {
        throw outcome.reason === 'deactivated' ? missing('user') : new LatchkeyError('email_in_use');
      }
      const added = await userEmails.find(core.database, outcome.id);
      if (added === undefined) throw missing('user-email');
      logAction(call, 'addUserEmail', outcome.id);
      return single(201, USER_EMAIL, added, call);
    },
  },
  actionOperation({
    id: 'deleteUserEmail',
    method: 'DELETE',
    summary: 'Removes an email address from its account',
    description: 'The user is notified by email, including at the removed address.',
    ...SHARED,
    isSilent: true,
    run: async (call, { user_id, email: stored }, action) => {
      const { core } = call;
      const email = parseStoredEmailAddress(stored);
      if (email === undefined) throw new TypeError('stored email address is invalid');
      const user = fromUuid<'user'>(user_id);
      const removal = { ...actorOf(call.caller), user, email, now: core.clock.now() };
      await change(call, action, async (_, transaction) => {
        // Recorded before the removal, so that the removed address is notified too.
        await recordEmailChange(core, transaction, 'email_removed', removal);
        if (!(await removeEmail(transaction, user, email.key))) throw missing('user-email');
      });
    },
  }),
];

/** A filter value that is not an email address matches nothing. */
function keyOfFilter(email: string): string {
  return parseStoredEmailAddress(email)?.key ?? email.toLowerCase();
}
