import type { User } from '#domain/accounts/user.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PageDeps } from './browser.ts';
import { chatServerName } from './components/chat-server-name.ts';
import type { DecidingAccount } from './components/client.tsx';

type AccountDeps = Pick<PageDeps, 'config' | 'homeserver' | 'urls'>;

/**
 * The account that a page asks to decide something (browser-flows 9.1). Asks the homeserver for its name, for a second
 * at most: a page without the name is better than one that comes late.
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

/** `@name:server`, as others see the account in chat; the username where there is no homeserver. */
export function accountIdentifier(
  { config, homeserver }: Pick<AccountDeps, 'config' | 'homeserver'>,
  username: string,
): string {
  const server = chatServerName(config.homeserver.homeserver, homeserver.isConnected);
  return server === undefined ? username : `@${username}:${server}`;
}

/** People change their name at the homeserver, so what is stored here counts only until they exist there. */
async function currentDisplayName({ homeserver }: AccountDeps, user: User): Promise<string | undefined> {
  if (!homeserver.isConnected) return user.displayName;
  const known = await homeserver.queryUser(user.username, { kind: 'page' });
  if (known.ok) return known.value.displayName;
  return known.reason === 'unknown-user' ? user.displayName : undefined;
}
