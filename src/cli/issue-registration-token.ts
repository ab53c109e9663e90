/** `latchkey manage issue-user-registration-token`: creates a token that users need to register. */

import { openFoundation } from '#app/service/foundation.ts';
import { Urls } from '#browser/urls.ts';
import type { Config } from '#config/config.ts';
import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { queueInvitationMail } from '#domain/accounts/registrations/invitation-mail.ts';
import { type IssuedToken, issueRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { isRegistrationToken } from '#domain/accounts/registrations/registration-token.ts';
import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import { openSecretKeys } from '#domain/keys/secret-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { GROUP_NAME_RULE, isGroupName } from '#protocol/oidc/group-names.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { operatorChange } from './operator-change.ts';

const MAX_LIFETIME_SECONDS = 315_360_000;

export interface IssueTokenOptions {
  /** Undefined: a random one. */
  readonly token?: string;
  /** Undefined: valid for one account, unless `unlimited`. */
  readonly usageLimit?: number;
  readonly unlimited: boolean;
  /** Undefined: the token does not expire. */
  readonly expiresIn?: number;
  /** Invited address. Undefined: anyone can register with the token. */
  readonly email?: string;
  /** Whether to send the link to `email`. */
  readonly send: boolean;
  /** Names of groups that the accounts join. */
  readonly group?: readonly string[];
  readonly note?: string;
}

const MAX_NOTE_CHARACTERS = 500;

/** @throws ExitError 1 if the token already exists, 2 if an option has an invalid format */
export async function issueRegistrationTokenCommand(
  configuration: CommandOptions,
  options: IssueTokenOptions,
  io: CommandIo,
): Promise<void> {
  const { token, expiresIn } = options;
  if (token !== undefined && !isRegistrationToken(token)) {
    throw new ExitError(ExitCode.usage, 'a token must have 1 to 64 letters, digits and . _ ~ -');
  }
  if (expiresIn !== undefined && (expiresIn < 1 || expiresIn > MAX_LIFETIME_SECONDS)) {
    throw new ExitError(ExitCode.usage, 'the lifetime of a token must be from 1 second to 10 years');
  }
  const wanted = { ...invitationOf(options), token };
  const usageLimit = options.unlimited ? undefined : (options.usageLimit ?? 1);
  if (wanted.email !== undefined && usageLimit !== 1) {
    throw new ExitError(ExitCode.usage, 'a token for an email address is valid for one account');
  }
  if (options.send && wanted.email === undefined) throw new ExitError(ExitCode.usage, '--send requires --email');
  const foundation = await openFoundation({ ...configuration, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
  });
  try {
    const { config, database, keyRing } = foundation;
    if (options.send && config.email.transport.kind === 'blackhole') {
      throw new ExitError(ExitCode.failure, 'the service sends no email: email.transport is "blackhole"');
    }
    for (const warning of warningsOf(config)) io.stderr(`warning: ${warning}\n`);
    const secretKeys = await openSecretKeys({ database, keyRing, clock: systemClock });
    const deps = { database, keyRing, secretKeys, clock: systemClock };
    const expiresAt = expiresIn === undefined ? undefined : new Date(systemClock.now() + expiresIn * 1000);
    const issuing = operatorChange(deps, actionOf, async (transaction, joined) => {
      const made = await issueRegistrationToken({ ...deps, database: joined }, { ...wanted, usageLimit, expiresAt });
      if (made !== undefined && options.send) {
        await queueInvitationMail(transaction, { id: made.id, language: undefined, now: systemClock.now() });
      }
      return made;
    });
    const issued = await io.signals.race(issuing);
    if (issued === undefined) throw new ExitError(ExitCode.failure, 'a token with this value already exists');
    const expires_at = expiresAt?.toISOString() ?? null;
    const url = new Urls(config.http.publicBase).invitation(issued.token);
    const document = { id: issued.id, token: issued.token, usage_limit: usageLimit ?? null, expires_at, url };
    io.stdout(configuration.isJson ? `${JSON.stringify(document)}\n` : `${issued.token}\n`);
    // On standard error, separate from the token, which scripts read.
    if (!configuration.isJson) io.stderr(`Registration link: ${url}\n`);
  } finally {
    await foundation.close();
  }
}

/** @throws ExitError 2 */
function invitationOf({ email: typed, group: groups = [], note }: IssueTokenOptions) {
  const email = typed === undefined ? undefined : parseStoredEmailAddress(typed);
  if (typed !== undefined && email === undefined) throw new ExitError(ExitCode.usage, `not an email address: ${typed}`);
  const invalid = groups.find((name) => !isGroupName(name));
  if (invalid !== undefined) {
    throw new ExitError(ExitCode.usage, `not a group name: ${JSON.stringify(invalid)}; expected ${GROUP_NAME_RULE}`);
  }
  if (note !== undefined && (note === '' || note.length > MAX_NOTE_CHARACTERS)) {
    throw new ExitError(ExitCode.usage, `a note must have 1 to ${MAX_NOTE_CHARACTERS} characters`);
  }
  return { email, groups, note };
}

/** Returns undefined if no token was created. */
function actionOf(issued: IssuedToken | undefined): AdminAction | undefined {
  if (issued === undefined) return undefined;
  const target = { type: 'user-registration-token', id: issued.id };
  return { operation: 'issue-user-registration-token', target };
}

/** Returns why users may not be asked for the token. */
function warningsOf({ account, passwords }: Config): string[] {
  if (!passwords.enabled || !account.passwordRegistrationEnabled) {
    return ['registration is closed: account.password_registration_enabled is off'];
  }
  if (account.passwordRegistrationTokenRequired) return [];
  return ['registration does not require a token: account.password_registration_token_required is off'];
}
