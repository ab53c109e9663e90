import type { User } from '#domain/records/user.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PageDeps } from './browser.ts';
import { chatServerName } from './components/chat-server-name.ts';
import type { DecidingAccount } from './components/client.tsx';

type AccountDeps = Pick<PageDeps, 'config' | 'homeserver' | 'urls'>;

/**
 * Returns the account that a page asks for a decision (browser-flows 9.1). Asks the homeserver for its display name,
 * for at most a second: a page without the name is better than a slow one.
 * @param action where "use another account" leads back to
 */
export async function decidingAccount(deps: AccountDeps, user: User, action: PostAuthAction): Promise<DecidingAccount> {
  return {
    displayName: await currentDisplayName(deps, user),
    identifier: accountIdentifier(deps, user.username),
    logoutPath: deps.urls.logout(),
    action,
  };
}

/** Returns `@name:server`, as other chat users see the account, or the username without a homeserver. */
export function accountIdentifier(
  { config, homeserver }: Pick<AccountDeps, 'config' | 'homeserver'>,
  username: string,
): string {
  const server = chatServerName(config.homeserver.homeserver, homeserver.isConnected);
  return server === undefined ? username : `@${username}:${server}`;
}

/** Users change their name at the homeserver, so the stored one counts only until the user exists there. */
async function currentDisplayName({ homeserver }: AccountDeps, user: User): Promise<string | undefined> {
  if (!homeserver.isConnected) return user.displayName;
  const known = await homeserver.queryUser(user.username, { kind: 'page' });
  if (known.ok) return known.value.displayName;
  return known.reason === 'unknown-user' ? user.displayName : undefined;
}
