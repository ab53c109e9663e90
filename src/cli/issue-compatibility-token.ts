import type { OpenedCompatSession } from '#domain/compat-sessions/open-compat-session.ts';
import { openCompatSessionForOperator } from '#domain/compat-sessions/open-for-operator.ts';
import { SessionLimit } from '#domain/records/session-limit.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { isDeviceId } from '#protocol/chat/device-id.ts';
import type { CompatSessionId } from '#vocabulary/ids.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { explainDeviceError, NOT_WAITING } from './device-errors.ts';
import { recordOfOperator } from './operator-change.ts';

export interface IssueCompatibilityTokenOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  /** Undefined: the service generates one. */
  readonly deviceId: string | undefined;
  /** Undefined: the token does not expire. */
  readonly expiresInSeconds: number | undefined;
  /** The token has admin rights on the homeserver. */
  readonly isAdmin: boolean;
  readonly json: boolean;
}

const MAX_LIFETIME_SECONDS = 315_360_000;

/**
 * `manage issue-compatibility-token` (operations 3.5): creates a session of a chat client without a login. Throws
 * `ExitError` 1 if the user does not exist or may not sign in, or the homeserver rejects the device; 2 for invalid
 * options.
 */
export async function issueCompatibilityTokenCommand(
  deps: ManageDeps,
  options: IssueCompatibilityTokenOptions,
): Promise<void> {
  const { deviceId, expiresInSeconds, isAdmin } = options;
  if (deviceId !== undefined && !isDeviceId(deviceId)) {
    throw new ExitError(ExitCode.usage, 'a device id must have 1 to 255 characters and no control characters');
  }
  if (expiresInSeconds !== undefined && (expiresInSeconds < 1 || expiresInSeconds > MAX_LIFETIME_SECONDS)) {
    throw new ExitError(ExitCode.usage, 'the lifetime of a token must be from 1 second to 10 years');
  }
  const user = await findManagedUser(deps, options.user);
  const record = (transaction: Queryable, id: CompatSessionId) => {
    const target = { type: 'compat-session', id, userId: user.id };
    return recordOfOperator(deps, { operation: 'issue-compatibility-token', target })(transaction);
  };
  const session = await openSession(deps, { user, isAdmin, lifetimeSeconds: expiresInSeconds, record }, deviceId);
  if (isAdmin) deps.io.stderr(`warning: this token gives ${user.username} administrator rights on the homeserver\n`);
  if (!options.json) {
    deps.io.stdout(`${session.accessToken}\n`);
    return;
  }
  const { id, accessToken } = session;
  const result = {
    id,
    username: user.username,
    device_id: session.deviceId,
    access_token: accessToken,
    admin: isAdmin,
  };
  deps.io.stdout(`${JSON.stringify(result)}\n`);
}

async function openSession(
  deps: ManageDeps,
  issued: Parameters<typeof openCompatSessionForOperator>[1],
  deviceId: string | undefined,
): Promise<OpenedCompatSession> {
  const device = { id: deviceId, name: undefined, canRefresh: false, address: undefined, userAgent: undefined };
  // Session limits for users do not apply to operators.
  const opening = { ...deps, sessionLimit: new SessionLimit(undefined, undefined), accessTokenTtlSeconds: 0 };
  const outcome = await openCompatSessionForOperator(opening, issued, device, NOT_WAITING).catch(explainDeviceError);
  if (outcome.ok) return outcome.session;
  switch (outcome.reason) {
    case 'deactivated':
    case 'locked':
      throw new ExitError(ExitCode.failure, `the user is ${outcome.reason}`);
    case 'lost':
    case 'factor-due':
    case 'too-many-sessions':
      throw new ExitError(ExitCode.failure, 'the user was changed at the same time; retry the command');
  }
}
