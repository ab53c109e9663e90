/** Changing a password, by users who know the current one and by administrators (account-graphql 5.2). */

import { changePassword } from '#domain/account-changes/change-password.ts';
import { changePasswordByToken } from '#domain/account-changes/change-password-by-token.ts';
import { setPasswordOfUser } from '#domain/account-changes/set-password-of-user.ts';
import { type FoundPasswordOwner, findPasswordOwner } from '#domain/accounts/passwords/find-password-owner.ts';
import { checkNewPassword } from '#domain/accounts/passwords/password-rules.ts';
import type { User as Account } from '#domain/records/user.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireSelf } from '../context/authorization.ts';
import type { Caller } from '../context/caller.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { recordAs } from '../context/record-action.ts';
import { mutationWithPayload } from './mutation.ts';
import { idOf } from './node.ts';
import { invalidPassword, limited, type SetPassword, SetPasswordPayload } from './set-password-payload.ts';

mutationWithPayload('setPassword', SetPasswordPayload, {
  description: 'Sets the password of an account.',
  input: (t) => ({
    userId: t.id({ required: true }),
    currentPassword: t.string({ description: 'Not required for administrators.' }),
    newPassword: t.string({ required: true }),
    keepOtherSessions: t.boolean({ defaultValue: false, description: 'Keeps other browser sessions.' }),
    endApplicationSessions: t.boolean({
      defaultValue: false,
      description: 'Ends the sessions of clients and devices as well.',
    }),
  }),
  resolve: async (input, context): Promise<SetPassword> => {
    const { core, caller, reads } = context;
    const id = idOf('User', input.userId);
    requireSelf(context, id);
    const { newPassword } = input;
    if (newPassword === '') return invalidPassword({ problem: 'required' }, context);
    if (!core.config.passwords.enabled) return { status: 'PASSWORD_CHANGES_DISABLED' };
    const owner = await findPasswordOwner(core.database, id);
    const rejected = await judge(newPassword, owner, context);
    if (rejected !== undefined) return invalidPassword(rejected, context);
    if (owner === undefined) return { status: 'NOT_FOUND' };
    if (reads === 'anybody' && caller.kind === 'oauth') return await setAsAdmin(id, input, caller, context);
    if (!core.config.account.passwordChangeAllowed) return { status: 'PASSWORD_CHANGES_DISABLED' };
    if (!owner.hasPassword) return { status: 'NO_CURRENT_PASSWORD' };
    const { currentPassword } = input;
    if (currentPassword === undefined || currentPassword === null) {
      throw refusal('BAD_USER_INPUT', 'currentPassword: the current password is required');
    }
    // An empty password is wrong. A missing one is invalid input.
    if (currentPassword === '') return { status: 'WRONG_PASSWORD' };
    return caller.kind === 'browser'
      ? await changeInBrowser(owner.user, currentPassword, input, context)
      : await changeInApplication(id, currentPassword, input, context);
  },
});

/** What all ways to change a password use of the input. */
interface Input {
  readonly newPassword: string;
  readonly keepOtherSessions?: boolean | null | undefined;
  readonly endApplicationSessions?: boolean | null | undefined;
}

/**
 * Judges a new password. An unknown account has no personal words to compare it with.
 * @throws LatchkeyError `overloaded`
 */
async function judge(newPassword: string, owner: FoundPasswordOwner | undefined, { core, request }: AccountContext) {
  const { branding } = core.config;
  const { username = '', displayName } = owner?.user ?? {};
  const words = { username, displayName, emails: owner?.emails ?? [], serviceName: branding.serviceName };
  const asker = { address: addressKey(request.clientAddress), signal: request.signal };
  return await checkNewPassword(core.passwordRules, newPassword, words, asker);
}

/** The parts of the request that every password change uses. */
function changeOf(
  { newPassword, keepOtherSessions, endApplicationSessions }: Input,
  { browser, request }: AccountContext,
) {
  return {
    newPassword,
    endsOtherBrowsers: keepOtherSessions !== true,
    endsApplications: endApplicationSessions === true,
    language: browser.pages.language(request).language,
    address: request.clientAddress,
    userAgent: request.userAgent,
    signal: request.signal,
  };
}

async function changeInBrowser(
  user: Account,
  password: string,
  input: Input,
  context: AccountContext,
): Promise<SetPassword> {
  const { core, browser, request } = context;
  const { csrf, viewers } = browser;
  const cookie = viewers.cookie(request);
  if (cookie === undefined) throw new Error('active viewer has no session cookie');
  const change = { ...changeOf(input, context), user, password, cookie, knownBrowsers: viewers.knownBrowsers(request) };
  const outcome = await changePassword(core, change);
  if (outcome.ok) {
    if (outcome.session !== undefined) viewers.rotate(request, outcome.session);
    csrf.rotate(request);
    context.forget();
    return { status: 'ALLOWED' };
  }
  switch (outcome.reason) {
    // In the meantime, for example by too many wrong passwords.
    case 'ended':
    case 'locked':
    case 'deactivated':
      throw refusal('UNAUTHENTICATED', 'Unauthorized');
    default:
      return refusedChange(outcome, context);
  }
}

async function changeInApplication(
  user: UserId,
  password: string,
  input: Input,
  context: AccountContext,
): Promise<SetPassword> {
  const outcome = await changePasswordByToken(context.core, { ...changeOf(input, context), user, password });
  if (!outcome.ok) return refusedChange(outcome, context);
  context.forget();
  return { status: 'ALLOWED' };
}

async function setAsAdmin(
  user: UserId,
  input: Input,
  { clientId, user: caller }: Extract<Caller, { readonly kind: 'oauth' }>,
  context: AccountContext,
): Promise<SetPassword> {
  const admin = { clientId, userId: caller?.id };
  const target = { type: 'user', id: user, userId: user };
  const record = recordAs(admin, context, { operation: 'setPassword', target, changed: ['password'] });
  const change = { ...changeOf(input, context), user, admin, record };
  const outcome = await setPasswordOfUser(context.core, change);
  if (outcome.ok) {
    context.forget();
    return { status: 'ALLOWED' };
  }
  if (outcome.reason === 'gone') return { status: 'NOT_FOUND' };
  throw limited(outcome);
}

type Refused = Exclude<
  Awaited<ReturnType<typeof changePasswordByToken | typeof changePassword>>,
  { readonly ok: true } | { readonly user: Account }
>;

function refusedChange(outcome: Refused, context: AccountContext): SetPassword {
  switch (outcome.reason) {
    case 'required':
    case 'invalid-credentials':
      return { status: 'WRONG_PASSWORD' };
    case 'rejected':
      return invalidPassword(outcome.rejected, context);
    default:
      throw limited(outcome);
  }
}
