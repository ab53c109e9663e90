/** Confirmed email addresses of accounts (operations 4.5). */
import { z } from 'zod';
import { parseEmailAddress, parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { removeEmail } from '#domain/accounts/user-emails.ts';
import { type UserEmailRecord, userEmails } from '#domain/administration/email-listing.ts';
import { users } from '#domain/administration/user-listing.ts';
import { addEmailUnproven } from '#domain/email-changes/add-email-unproven.ts';
import { type ChangedBy, recordEmailChange } from '#domain/email-changes/record-email-change.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type Resource, single, time } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  actionOperation,
  getOperation,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleAnswer,
  stored,
} from '../definition/operation.ts';

const USER_EMAIL: Resource<UserEmailRecord> = {
  type: 'user-email',
  path: 'user-emails',
  description: 'A confirmed e-mail address of an account.',
  attributes: z.object({
    created_at: z.iso.datetime().describe('When it was added.'),
    user_id: z.string().describe('Whose it is.'),
    email: z.string().describe('The address, as it was typed.'),
    primary: z.boolean().describe('Applications get this address of the account.'),
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
  user_id: ulid().describe('The account that gets it.'),
  email: z.string().describe('The address; nothing is sent to it, it counts as confirmed.'),
});

export const userEmailOperations: readonly Operation[] = [
  listOperation({
    id: 'listUserEmails',
    summary: 'Lists confirmed addresses',
    description: 'Addresses of all accounts, in the order in which they were added.',
    ...SHARED,
    filters: z.object({
      user: filter(ulid(), 'Addresses of the account of this id.', EXAMPLE_ID),
      email: filter(
        z.string().max(255),
        'The address that is exactly this one, in upper or lower case; a part of one finds nothing.',
        'maren@mail.example',
      ),
    }),
    select: ({ user, email }) => ({ user, key: email === undefined ? undefined : keyOfFilter(email) }),
    check: async ({ core }, { user }) => {
      if (user !== undefined && (await users.find(core.database, fromUuid(user))) === undefined) throw missing('user');
    },
  }),
  getOperation({ id: 'getUserEmail', summary: 'Reads an address', description: 'One address by its id.', ...SHARED }),
  {
    id: 'addUserEmail',
    method: 'POST',
    path: USER_EMAIL.path,
    tag: USER_EMAIL.type,
    summary: 'Gives an account an address that counts as confirmed',
    description:
      'No mail is sent to prove it, and the rules for addresses are not asked. No two accounts have one address, in whatever upper and lower case.',
    body: addressBody,
    answers: [singleAnswer(201, USER_EMAIL)],
    errors: ['invalid_body', 'not_found', 'invalid_email', 'email_in_use'],
    run: async (call) => {
      const { core, context } = call;
      const { user_id, email: typed } = await readBody(context, addressBody);
      const email = parseEmailAddress(typed);
      if (email === undefined) throw new LatchkeyError('invalid_email', { members: { pointer: '/email' } });
      const outcome = await addEmailUnproven(core, fromUuid<'user'>(user_id), email, changedBy(call));
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
    summary: 'Takes an address from its account',
    description: 'The person is told by mail, at that address as well.',
    ...SHARED,
    isSilent: true,
    run: async (call, { user_id, email: stored }) => {
      const { core } = call;
      const email = parseStoredEmailAddress(stored);
      if (email === undefined) throw new TypeError('an address is stored that cannot be read');
      const user = fromUuid<'user'>(user_id);
      const change = { ...changedBy(call), user, email, now: core.clock.now() };
      await core.database.transaction(
        async (transaction) => {
          // Recorded before the removal, so that the removed address is notified too.
          await recordEmailChange(core, transaction, 'email_removed', change);
          if (!(await removeEmail(transaction, user, email.key))) throw missing('user-email');
        },
        { isRepeatable: true },
      );
    },
  }),
];

/** A filter value that is not an email address matches nothing. */
function keyOfFilter(email: string): string {
  return parseStoredEmailAddress(email)?.key ?? email.toLowerCase();
}

function changedBy({ caller }: AdminCall): ChangedBy {
  return { client: caller.clientId, admin: caller.user?.id };
}
