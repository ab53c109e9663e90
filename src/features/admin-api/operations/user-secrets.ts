/** Accounts created by administrators, and passwords that they set (operations 4.4). */
import { z } from 'zod';
import { setPasswordOfUser } from '#domain/account-changes/set-password-of-user.ts';
import {
  checkDisplayName,
  DISPLAY_NAME_REASONS,
  parseDisplayName,
  usernameProblems,
} from '#domain/accounts/account-names.ts';
import { isUsernameTaken } from '#domain/accounts/find-user.ts';
import { findPasswordOwner } from '#domain/accounts/passwords/find-password-owner.ts';
import { checkNewPassword, passwordProblemText } from '#domain/accounts/passwords/password-rules.ts';
import { registerKnownUser } from '#domain/accounts/registrations/register-known-user.ts';
import { users } from '#domain/administration/user-listing.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { single } from '../definition/documents.ts';
import { text } from '../definition/fields.ts';
import { HOMESERVER_ERRORS, homeserverFailure } from '../definition/homeserver-failure.ts';
import {
  type AdminCall,
  actionOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  record,
  singleResponse,
  stored,
} from '../definition/operation.ts';
import { USER } from './users.ts';

const newUserBody = z.strictObject({
  username: z
    .string()
    .describe('Username: letters `a` to `z`, digits and `= _ - . / +`; must not start with `_`. It cannot be changed.'),
  skip_homeserver_check: z
    .boolean()
    .default(false)
    .describe(
      'Skips checking with the homeserver whether the username is available, for users that exist there already.',
    ),
  displayname: z
    .string()
    .superRefine((name, context) => {
      const judged = checkDisplayName(name);
      if (!judged.ok) context.addIssue({ code: 'custom', message: DISPLAY_NAME_REASONS[judged.problem] });
    })
    .optional()
    .describe('Display name, here and at the homeserver.'),
  avatar_url: z
    .string()
    .max(255, 'must have at most 255 characters')
    .regex(/^mxc:\/\/[^/\s]+\/[A-Za-z0-9_-]+$/, 'not a homeserver content URI (mxc://)')
    .optional()
    .describe('Avatar at the homeserver, not stored here: `mxc://server/id`.'),
});

const passwordBody = z.strictObject({
  password: text(8192).describe('New password.'),
  skip_password_check: z.boolean().default(false).describe('Skips the password rules.'),
});

export const userSecretOperations: readonly Operation[] = [
  {
    id: 'createUser',
    method: 'POST',
    path: USER.path,
    tag: USER.type,
    summary: 'Creates an account',
    description:
      'The account has no password or email address; add them with `setUserPassword` and `addUserEmail`. ' +
      'The user is created at the homeserver before the response; if that fails, nothing is stored.',
    body: newUserBody,
    answers: [singleResponse(201, USER)],
    errors: ['invalid_body', 'invalid_username', 'user_exists', 'username_reserved', ...HOMESERVER_ERRORS],
    run: async (call) => {
      const { core, context } = call;
      const { username, skip_homeserver_check, displayname, avatar_url } = await readBody(context, newUserBody);
      await checkName(call, username, skip_homeserver_check);
      const registration = {
        username,
        displayName: displayname === undefined ? undefined : parseDisplayName(displayname),
        locale: core.config.i18n.defaultLanguage,
        canRequestAdmin: false,
        emails: [],
        password: undefined,
        record: (transaction: Queryable, id: UserId) =>
          record(call, { operation: 'createUser', target: { type: USER.type, id, userId: id } }, transaction),
        now: core.clock.now(),
      };
      const outcome = await registerKnownUser(core, registration, avatar_url);
      if (!outcome.ok && outcome.reason === 'homeserver') throw homeserverFailure(outcome.failure);
      if (!outcome.ok) throw new LatchkeyError('user_exists');
      const user = await users.find(core.database, outcome.id);
      if (user === undefined) throw missing('user');
      logAction(call, 'createUser', outcome.id);
      return single(201, USER, user, call);
    },
  },
  actionOperation({
    id: 'setUserPassword',
    action: 'set-password',
    summary: 'Sets the password of an account; sessions continue',
    description: 'The previous password stops working and sessions continue. The user is notified by email.',
    resource: USER,
    source: stored(users),
    body: passwordBody,
    errors: ['invalid_body', 'password_auth_disabled', 'password_too_weak', 'overloaded'],
    isSilent: true,
    run: async (call, { id }, action) => {
      const { core, context, caller } = call;
      const { password, skip_password_check } = await readBody(context, passwordBody);
      if (!core.config.passwords.enabled) throw new LatchkeyError('password_auth_disabled');
      const user = fromUuid<'user'>(id);
      if (Buffer.byteLength(password) > core.config.passwords.maximumLength) {
        throw new LatchkeyError('password_too_weak', { description: 'the password is too long' });
      }
      if (!skip_password_check) await checkPassword(call, user, password);
      const outcome = await setPasswordOfUser(core, {
        user,
        newPassword: password,
        endsOtherBrowsers: false,
        endsApplications: false,
        language: core.config.i18n.defaultLanguage,
        address: context.clientAddress,
        userAgent: context.userAgent,
        signal: context.signal,
        admin: { clientId: caller.clientId, userId: caller.user?.id },
        record: (transaction) => record(call, { ...action, changed: ['password'] }, transaction),
      });
      if (outcome.ok) return;
      if (outcome.reason === 'gone') throw missing('user');
      throw new LatchkeyError('overloaded', { retryAfterSeconds: outcome.retryAfterSeconds });
    },
  }),
];

/** @throws LatchkeyError `invalid_username`, `user_exists`, `username_reserved`, and homeserver errors */
async function checkName({ core }: AdminCall, username: string, skipsHomeserver: boolean): Promise<void> {
  if (usernameProblems(username, core.config.homeserver.homeserver).length > 0) {
    throw new LatchkeyError('invalid_username', { members: { pointer: '/username' } });
  }
  if (await isUsernameTaken(core.database, username)) throw new LatchkeyError('user_exists');
  if (skipsHomeserver) {
    core.log.warn('admin.unchecked_name', 'account created without homeserver check', {
      username,
    });
    return;
  }
  const free = await core.homeserver.isLocalpartAvailable(username, { kind: 'admin' });
  if (!free.ok) throw homeserverFailure(free);
  if (free.value) return;
  const known = await core.homeserver.queryUser(username, { kind: 'admin' });
  if (!known.ok) throw new LatchkeyError('username_reserved');
  throw new LatchkeyError('username_reserved', {
    description:
      'the homeserver has this user, who has no account here. If its users were not imported, import first. ' +
      'Otherwise, send skip_homeserver_check: devices of the user are kept',
  });
}

/** @throws LatchkeyError `password_too_weak` with suggestions, `overloaded` */
async function checkPassword(
  { core, context }: AdminCall,
  user: Parameters<typeof findPasswordOwner>[1],
  password: string,
) {
  const owner = await findPasswordOwner(core.database, user);
  const { branding } = core.config;
  const { username = '', displayName } = owner?.user ?? {};
  const words = { username, displayName, emails: owner?.emails ?? [], serviceName: branding.serviceName };
  const asker = { address: addressKey(context.clientAddress), signal: context.signal };
  const rejected = await checkNewPassword(core.passwordRules, password, words, asker);
  if (rejected === undefined) return;
  throw new LatchkeyError('password_too_weak', {
    description: `password rejected: ${passwordProblemText(rejected.problem)}`,
    members: { pointer: '/password' },
  });
}
