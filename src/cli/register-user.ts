import {
  checkDisplayName,
  DISPLAY_NAME_REASONS,
  type UsernameProblem,
  usernameProblems,
} from '#domain/accounts/account-names.ts';
import { type EmailAddress, parseEmailAddress } from '#domain/accounts/email-address.ts';
import { isUsernameTaken } from '#domain/accounts/find-user.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { bindIdentity, type Identity } from '#domain/upstream/bind-identity.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { Queryable, Transaction } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { ManageDeps } from './accounts.ts';
import { accountAction, recordOfOperator } from './operator-change.ts';
import { shellWord } from './own-command.ts';
import { hashNewPassword, type PasswordOptions, promptNewPassword, readGivenPassword } from './password-input.ts';
import type { Prompts } from './prompts.ts';

export interface RegisterUserOptions extends PasswordOptions {
  readonly username?: string | undefined;
  readonly emails: readonly string[];
  /** `PROVIDER_ID:SUBJECT` each. */
  readonly upstreamProviderMapping: readonly string[];
  /** `--admin` or `--no-admin`; undefined: neither. */
  readonly admin?: boolean | undefined;
  readonly displayName?: string | undefined;
  /** BCP 47 tag; undefined: the default language of the service. */
  readonly locale?: string | undefined;
  /** Do not prompt. */
  readonly yes: boolean;
  readonly ignorePasswordComplexity: boolean;
  /** Do not ask the homeserver whether the name is available. */
  readonly skipHomeserverCheck: boolean;
  readonly json: boolean;
}

interface Wanted {
  readonly username: string;
  readonly password: string | undefined;
  readonly emails: readonly EmailAddress[];
  readonly identities: readonly Identity[];
  readonly isAdmin: boolean;
  readonly displayName: string | undefined;
  readonly locale: string;
}

/**
 * `manage register-user` (operations 3.5). Throws `ExitError` 1 if a check fails or the operator declines, 2 if
 * something is missing and it cannot prompt on a terminal.
 */
export async function registerUserCommand(deps: ManageDeps, options: RegisterUserOptions): Promise<void> {
  const prompts = options.yes ? undefined : deps.io.prompts;
  if (!options.yes && prompts === undefined) {
    throw new ExitError(ExitCode.usage, '--yes is required if standard input is not a terminal');
  }
  const wanted = await collect(deps, options, prompts);
  const password =
    wanted.password === undefined
      ? undefined
      : await hashNewPassword(
          deps,
          wanted.password,
          {
            username: wanted.username,
            emails: wanted.emails.map((email) => email.address),
            serviceName: deps.serviceName,
          },
          { ignoreComplexity: options.ignorePasswordComplexity, exitCode: ExitCode.failure },
        );
  if (wanted.emails.length === 0) deps.io.stderr('warning: the user has no email address\n');
  if (password === undefined && wanted.identities.length === 0) {
    deps.io.stderr('warning: the user has no password and cannot sign in\n');
  }
  if (prompts !== undefined) await confirm(prompts, wanted, options);

  const { username, emails, displayName, locale, isAdmin } = wanted;
  const now = deps.clock.now();
  const registration = {
    ...{ username, displayName, locale, canRequestAdmin: isAdmin, emails, password, now },
    isNewAtHomeserver: !options.skipHomeserverCheck,
    bindIdentities: async (transaction: Transaction, user: UserId) => {
      for (const identity of wanted.identities) await bindOrFail(transaction, user, identity, now);
    },
    record: (transaction: Queryable, user: UserId) =>
      recordOfOperator(deps, accountAction('register-user', user))(transaction),
  };
  const outcome = await registerUser(deps, registration);
  if (!outcome.ok) {
    const subject = outcome.reason === 'name-taken' ? `username ${username}` : `email address ${outcome.email}`;
    throw new ExitError(ExitCode.failure, `${subject} is already taken`);
  }
  const result = { id: outcome.id, username, admin: isAdmin, emails: emails.map((email) => email.address) };
  deps.io.stdout(options.json ? `${JSON.stringify(result)}\n` : `${outcome.id}\t${username}\n`);
  if (isAdmin && deps.adminArea !== undefined) deps.io.stderr(`admin area: ${deps.adminArea}\n`);
}

async function collect(deps: ManageDeps, options: RegisterUserOptions, prompts: Prompts | undefined): Promise<Wanted> {
  const identities = options.upstreamProviderMapping.map(parseIdentity);
  const locale = options.locale === undefined ? deps.defaultLanguage : parseLocale(options.locale);
  const username = options.username ?? (await prompts?.text('Username'));
  if (username === undefined) throw new ExitError(ExitCode.usage, 'the username is missing');
  await checkUsername(deps, username, options.skipHomeserverCheck);
  const given = await readGivenPassword(options, deps.io);
  const password = given ?? (prompts === undefined ? undefined : await promptNewPassword(deps.io));
  const typedEmail = options.emails.length > 0 ? '' : await prompts?.text('Email address (empty for none)');
  const emails = parseEmails([...options.emails, typedEmail ?? ''].filter((email) => email !== ''));
  const typedName = options.displayName ?? (await prompts?.text('Display name (empty for none)')) ?? '';
  const displayName = typedName === '' ? undefined : readDisplayName(typedName);
  const isAdmin =
    options.admin ?? (await prompts?.confirm('Allow this user to request the admin scope?', false)) ?? false;
  return { username, password, emails, identities, isAdmin, displayName, locale };
}

/** Throws `ExitError` 1 with the reason if the name is not allowed. */
export function readDisplayName(text: string): string {
  const judged = checkDisplayName(text);
  if (judged.ok) return judged.name;
  throw new ExitError(ExitCode.failure, `the display name is not allowed: ${DISPLAY_NAME_REASONS[judged.problem]}`);
}

const MAX_SUBJECT_BYTES = 255;

function parseIdentity(text: string): Identity {
  const colon = text.indexOf(':');
  const providerId = parseId<'upstream-provider'>(text.slice(0, Math.max(colon, 0)));
  const subject = text.slice(colon + 1);
  if (providerId === undefined || subject === '' || Buffer.byteLength(subject) > MAX_SUBJECT_BYTES) {
    throw new ExitError(
      ExitCode.usage,
      `${JSON.stringify(text)} does not have the form PROVIDER_ID:SUBJECT, with the id of a provider and the subject of the user there`,
    );
  }
  return { providerId, subject };
}

async function bindOrFail(transaction: Transaction, user: UserId, identity: Identity, now: number): Promise<void> {
  const outcome = await bindIdentity(transaction, user, identity, now);
  if (outcome.ok) return;
  const { providerId, subject } = identity;
  const reason =
    outcome.reason === 'taken'
      ? `the subject ${subject} of provider ${providerId} belongs to another user`
      : `provider ${providerId} does not exist or is not enabled; run config sync to sync the providers of the configuration`;
  throw new ExitError(ExitCode.failure, reason);
}

const USERNAME_RULES: Readonly<Record<UsernameProblem, string>> = {
  'username-too-short': 'it is empty',
  'username-too-long': 'with the name of the server it is longer than 255 bytes',
  'username-all-numeric': 'it consists only of digits',
  'username-invalid-chars': 'allowed characters are lowercase letters a to z, digits and . = _ / + -',
  'username-identifier': 'it looks like an identifier (a ULID or UUID), which commands would treat as an account id',
  'username-reserved': 'it starts with an underscore or is a dot',
};

async function checkUsername(deps: ManageDeps, username: string, skipsHomeserver: boolean): Promise<void> {
  const problems = usernameProblems(username, deps.serverName);
  const [problem] = problems;
  if (problem !== undefined)
    throw new ExitError(ExitCode.failure, `the username is not allowed: ${USERNAME_RULES[problem]}`);
  if (await isUsernameTaken(deps.database, username))
    throw new ExitError(ExitCode.failure, `username ${username} is already taken`);
  if (skipsHomeserver) return;
  const requested = await deps.homeserver.isLocalpartAvailable(username, { kind: 'request' });
  if (!requested.ok) {
    throw new ExitError(
      ExitCode.unavailable,
      `the homeserver did not report whether ${username} is available (${requested.detail}); use --skip-homeserver-check to skip this check`,
    );
  }
  if (requested.value) return;
  const known = await deps.homeserver.queryUser(username, { kind: 'request' });
  throw new ExitError(
    ExitCode.failure,
    known.ok
      ? `the homeserver has the user ${username}, who has no account here. If its users were not imported, import first: ` +
          'latchkey import mas or latchkey import migrate. Otherwise, create the account with --skip-homeserver-check; ' +
          'devices of the user are kept'
      : `username ${username} is taken or reserved on the homeserver`,
  );
}

/** Returns the canonical form of a BCP 47 tag. */
function parseLocale(text: string): string {
  try {
    return new Intl.Locale(text).toString();
  } catch {
    throw new ExitError(ExitCode.failure, `${JSON.stringify(text)} is not a language tag (for example en or de-AT)`);
  }
}

/** Removes duplicates by the form used for comparison. */
function parseEmails(texts: readonly string[]): EmailAddress[] {
  const byKey = new Map<string, EmailAddress>();
  for (const text of texts) {
    const email = parseEmailAddress(text);
    if (email === undefined) throw new ExitError(ExitCode.failure, `${text} is not an email address`);
    byKey.set(email.key, email);
  }
  return [...byKey.values()];
}

async function confirm(prompts: Prompts, wanted: Wanted, options: RegisterUserOptions): Promise<void> {
  prompts.note('New user', [
    `username: ${wanted.username}`,
    `display name: ${wanted.displayName ?? 'none'}`,
    `language: ${wanted.locale}`,
    `email addresses: ${wanted.emails.map((email) => email.address).join(', ') || 'none'}`,
    ...wanted.identities.map(({ providerId, subject }) => `linked identity: ${providerId}: ${subject}`),
    `password: ${wanted.password === undefined ? 'none' : 'set'}`,
    `can request the admin scope: ${wanted.isAdmin ? 'yes' : 'no'}`,
    '',
    equivalentCommand(wanted, options),
  ]);
  if (!(await prompts.confirm('Create this user?', true)))
    throw new ExitError(ExitCode.failure, 'canceled: no user was created');
}

function equivalentCommand(wanted: Wanted, options: RegisterUserOptions): string {
  const words = ['latchkey', 'manage', 'register-user', '--yes', wanted.isAdmin ? '--admin' : '--no-admin'];
  for (const email of wanted.emails) words.push('--email', email.address);
  for (const { providerId, subject } of wanted.identities) {
    words.push('--upstream-provider-mapping', `${providerId}:${subject}`);
  }
  if (wanted.displayName !== undefined) words.push('--display-name', wanted.displayName);
  if (options.locale !== undefined) words.push('--locale', wanted.locale);
  if (wanted.password !== undefined) words.push('--password-file', '-');
  if (options.ignorePasswordComplexity) words.push('--ignore-password-complexity');
  words.push(wanted.username);
  return words.map(shellWord).join(' ');
}
