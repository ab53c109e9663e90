import { describeUser, type UserDescription } from '#domain/administration/describe-user.ts';
import { type FoundUser, searchUsers, type UserStatus } from '#domain/administration/search-users.ts';
import type { User } from '#domain/records/user.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

export interface ListUsersOptions {
  readonly search?: string | undefined;
  readonly status?: UserStatus | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** `manage list-users` (operations 3.5): a table, or with `--json` one document per line. */
export async function listUsersCommand(deps: ManageDeps, options: ListUsersOptions): Promise<void> {
  const { search, status, limit, json } = options;
  // One extra row shows whether there are more.
  const found = await searchUsers(deps.database, { search, status, limit: limit + 1 });
  const shown = found.slice(0, limit);
  if (json) for (const user of shown) deps.io.stdout(`${JSON.stringify(documentOf(user))}\n`);
  else deps.io.stdout(usersTable(shown));
  deps.io.stderr(found.length > limit ? `only the first ${limit} are shown\n` : `total: ${shown.length}\n`);
}

function documentOf(user: FoundUser) {
  const { id, username, displayName, email, createdAt } = user;
  return {
    id,
    username,
    display_name: displayName ?? null,
    email: email ?? null,
    status: statusOf(user),
    admin: user.canRequestAdmin,
    created_at: new Date(createdAt).toISOString(),
  };
}

function statusOf({ isDeactivated, isLocked }: User): UserStatus {
  if (isDeactivated) return 'deactivated';
  return isLocked ? 'locked' : 'active';
}

function usersTable(users: readonly FoundUser[]): string {
  return table([
    ['ID', 'USERNAME', 'STATUS', 'ADMIN', 'CREATED', 'E-MAIL'],
    ...users.map((user) => [
      user.id,
      user.username,
      statusOf(user),
      user.canRequestAdmin ? 'yes' : 'no',
      new Date(user.createdAt).toISOString().slice(0, 10),
      user.email ?? '-',
    ]),
  ]);
}

export interface ShowUserOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly json: boolean;
}

/** `manage show-user` (operations 3.5). Throws `ExitError` 1 if the user does not exist. */
export async function showUserCommand(deps: ManageDeps, options: ShowUserOptions): Promise<void> {
  const user = await findManagedUser(deps, options.user);
  const described = await describeUser(deps.database, user.id);
  if (described === undefined) throw new ExitError(ExitCode.failure, 'user not found');
  deps.io.stdout(options.json ? `${JSON.stringify(wholeDocument(user, described))}\n` : lines(user, described));
}

function wholeDocument(user: User, { sessions, ...described }: UserDescription) {
  const { createdAt, lockedAt, deactivatedAt, hasPassword, emails, groups, claims, links } = described;
  return {
    id: user.id,
    username: user.username,
    display_name: user.displayName ?? null,
    locale: user.locale ?? null,
    status: statusOf(user),
    admin: user.canRequestAdmin,
    created_at: timeOf(createdAt),
    locked_at: lockedAt === undefined ? null : timeOf(lockedAt),
    deactivated_at: deactivatedAt === undefined ? null : timeOf(deactivatedAt),
    has_password: hasPassword,
    emails,
    primary_email: emails[0] ?? null,
    groups,
    claims,
    upstream_links: links.map(({ provider, subject, accountName }) => {
      return { provider, subject, account_name: accountName ?? null };
    }),
    sessions,
  };
}

/** A single address is not marked as primary. */
function emailsText([primary, ...others]: readonly string[]): string {
  if (primary === undefined) return '-';
  return others.length === 0 ? primary : [`${primary} (primary)`, ...others].join(', ');
}

function lines(user: User, { sessions, ...described }: UserDescription): string {
  const { createdAt, lockedAt, deactivatedAt, hasPassword, emails, groups, claims, links } = described;
  const rows: (readonly [string, string])[] = [
    ['id', user.id],
    ['username', user.username],
    ['display name', user.displayName ?? '-'],
    ['language', user.locale ?? '-'],
    ['status', statusOf(user)],
    ['admin', user.canRequestAdmin ? 'yes' : 'no'],
    ['created', timeOf(createdAt)],
    ...(lockedAt === undefined ? [] : [['locked', timeOf(lockedAt)] as const]),
    ...(deactivatedAt === undefined ? [] : [['deactivated', timeOf(deactivatedAt)] as const]),
    ['password', hasPassword ? 'yes' : 'no'],
    ['email addresses', emailsText(emails)],
    ['groups', groups.join(', ') || '-'],
    ['additional claims', Object.keys(claims).length === 0 ? '-' : JSON.stringify(claims)],
    ...links.map(({ provider, subject, accountName }) => {
      const name = accountName === undefined ? '' : ` (${accountName})`;
      return ['linked identity', `${provider}: ${subject}${name}`] as const;
    }),
    [
      'active sessions',
      `browser: ${sessions.browser}, OAuth: ${sessions.oauth2}, chat: ${sessions.compat}, personal: ${sessions.personal}`,
    ],
  ];
  return rows.map(([name, value]) => `${name.padEnd(18)}${visible(value)}\n`).join('');
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
