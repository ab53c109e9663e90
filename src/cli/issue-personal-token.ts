import {
  isPersonalName,
  issuePersonalToken,
  MAX_PERSONAL_NAME_CHARACTERS,
  MAX_PERSONAL_TOKEN_SECONDS,
} from '#domain/personal-sessions/issue-personal-token.ts';
import { judgePersonalScope } from '#domain/personal-sessions/judge-personal-scope.ts';
import { AdminRights } from '#domain/records/admin-rights.ts';
import type { User } from '#domain/records/user.ts';
import { ExitCode, ExitError, LatchkeyError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { explainDeviceError, NOT_WAITING } from './device-errors.ts';
import { recordOfOperator } from './operator-change.ts';

export interface IssuePersonalTokenOptions {
  /** The account that the token acts as: a username, `@user:server` or an ID. */
  readonly actor: string;
  /** The owner of the token; undefined: the actor. */
  readonly owner: string | undefined;
  readonly name: string;
  readonly scope: string;
  /** Undefined: the token does not expire. */
  readonly expiresInSeconds: number | undefined;
  readonly json: boolean;
}

/**
 * `manage issue-personal-token` (operations 3.5): creates a long-lived token that acts as an account. Throws
 * `ExitError` 1 if the user does not exist or cannot be used, or the homeserver rejects the device; 2 for invalid
 * options.
 */
export async function issuePersonalTokenCommand(deps: ManageDeps, options: IssuePersonalTokenOptions): Promise<void> {
  const { name, expiresInSeconds } = options;
  if (!isPersonalName(name)) {
    const limits = `1 to ${MAX_PERSONAL_NAME_CHARACTERS} characters and no control characters`;
    throw new ExitError(ExitCode.usage, `the name of a token must have ${limits}`);
  }
  if (expiresInSeconds !== undefined && (expiresInSeconds < 1 || expiresInSeconds > MAX_PERSONAL_TOKEN_SECONDS)) {
    throw new ExitError(ExitCode.usage, 'the lifetime of a token must be from 1 second to 10 years');
  }
  const actor = await findManagedUser(deps, options.actor);
  const owner = options.owner === undefined ? actor : await findManagedUser(deps, options.owner);
  if (owner.isLocked && !owner.isDeactivated) {
    throw new ExitError(ExitCode.failure, `${owner.username} is locked; choose another owner with --owner`);
  }
  const { sessionId, accessToken } = await issue(deps, options, actor, owner);
  if (!options.json) {
    deps.io.stdout(`${accessToken}\n`);
    return;
  }
  const result = { id: sessionId, username: actor.username, owner: owner.username, access_token: accessToken };
  deps.io.stdout(`${JSON.stringify(result)}\n`);
}

async function issue(
  deps: ManageDeps,
  { name, scope: scopeText, expiresInSeconds }: IssuePersonalTokenOptions,
  actor: User,
  owner: User,
) {
  const owning = { kind: 'user', id: owner.id } as const;
  const scope = await judgeScope(deps, scopeText, actor, owning);
  const outcome = await issuePersonalToken(deps, {
    owner: owning,
    actor,
    name,
    scope,
    deviceId: deps.scopeRules.deviceIdOf(scope),
    lifetimeSeconds: expiresInSeconds,
    by: { detail: { actor: 'admin' } },
    record: (transaction, id) => {
      const target = { type: 'personal-session', id, userId: actor.id };
      return recordOfOperator(deps, { operation: 'issue-personal-token', target })(transaction);
    },
    waiting: NOT_WAITING,
  }).catch(explainDeviceError);
  if (outcome.ok) return outcome;
  switch (outcome.reason) {
    case 'deactivated':
      throw new ExitError(ExitCode.failure, 'the user is deactivated');
    case 'owner':
      throw new ExitError(ExitCode.failure, 'the owner is locked or deactivated');
    case 'gone':
      throw new ExitError(ExitCode.failure, 'user not found');
  }
}

async function judgeScope(
  { database, scopeRules, listedAdmins }: ManageDeps,
  text: string,
  actor: User,
  owner: Parameters<typeof judgePersonalScope>[3],
): Promise<readonly string[]> {
  const users = new Set(listedAdmins);
  const adminRights = new AdminRights({ scopeRules, users, clients: new Set() });
  const holder = { username: actor.username, can_request_admin: actor.canRequestAdmin };
  try {
    return await judgePersonalScope({ database, adminRights, scopeRules }, text, holder, owner);
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
    throw new ExitError(
      error.code === 'invalid_scope' ? ExitCode.usage : ExitCode.failure,
      error.description ?? error.code,
    );
  }
}
