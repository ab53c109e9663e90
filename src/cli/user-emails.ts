import { recordEmailChange } from '#domain/account-changes/record-email-change.ts';
import { type EmailAddress, parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { addEmail, findEmailOwner, listEmails, removeEmail } from '#domain/accounts/user-emails.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, operatorChange } from './operator-change.ts';

export interface EmailOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly email: string;
  readonly json: boolean;
}

/**
 * `manage add-email` (operations 3.5): adds a verified address. Throws `ExitError` 1 if the user does not exist, the
 * address is invalid, or another user has it.
 */
export async function addEmailCommand(deps: ManageDeps, options: EmailOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  if (user.isDeactivated) throw new ExitError(ExitCode.failure, 'the user is deactivated');
  const email = parse(options.email);
  const action = accountAction('add-email', user.id, ['email']);
  const actionIf = (isDone: boolean) => (isDone ? action : undefined);
  const isAdded = await operatorChange(deps, actionIf, async (transaction) => {
    const owner = await findEmailOwner(transaction, email.key);
    if (owner === user.id) return false;
    // The notice goes to the other addresses, not to the new one.
    if (owner === undefined)
      await recordEmailChange(deps, transaction, 'email_added', { user: user.id, email, now: deps.clock.now() });
    if (owner !== undefined || (await addEmail(transaction, user.id, email, deps.clock.now())) === undefined) {
      throw new ExitError(ExitCode.failure, `${email.address} belongs to another user`);
    }
    return true;
  });
  const { id, username } = user;
  const { address } = email;
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, email: address, added: isAdded })}\n`);
  else deps.io.stdout(isAdded ? `${address} added to ${username}\n` : `${username} already has ${address}\n`);
}

/** `manage remove-email` (operations 3.5). Throws `ExitError` 1 if the user does not have the address. */
export async function removeEmailCommand(deps: ManageDeps, options: EmailOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  const email = parse(options.email);
  const { id, username } = user;
  const { address } = email;
  const action = accountAction('remove-email', id, ['email']);
  const left = await operatorChange(deps, action, async (transaction) => {
    // The notice also goes to the removed address.
    await recordEmailChange(deps, transaction, 'email_removed', { user: id, email, now: deps.clock.now() });
    if (!(await removeEmail(transaction, id, email.key))) {
      throw new ExitError(ExitCode.failure, `${username} does not have ${address}`);
    }
    return await listEmails(transaction, id);
  });
  if (left.length === 0) deps.io.stderr(`warning: ${username} no longer has an email address\n`);
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, email: address, removed: true })}\n`);
  else deps.io.stdout(`${address} removed from ${username}\n`);
}

/** `manage verify-email` (operations 3.5), for scripts written for other programs. Changes nothing. */
export async function verifyEmailCommand(deps: ManageDeps, options: EmailOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  deps.io.stderr('warning: verify-email does nothing: addresses added with add-email are already confirmed\n');
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, email: options.email, changed: false })}\n`);
}

/** Accepts addresses that predate the current rules. */
function parse(text: string): EmailAddress {
  const email = parseStoredEmailAddress(text);
  if (email === undefined) throw new ExitError(ExitCode.failure, `${text} is not an email address`);
  return email;
}
