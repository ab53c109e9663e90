import { chatServerName } from '../../src/browser/components/chat-server-name.ts';

/** Returns the chat ID `@name:server` of the account; undefined without a homeserver. */
export function chatIdOf(username: string, serverName: string, hasHomeserver: boolean): string | undefined {
  const server = chatServerName(serverName, hasHomeserver);
  return server === undefined ? undefined : `@${username}:${server}`;
}
