import { chatServerName } from '../../src/browser/components/chat-server-name.ts';

/** `@name:server`, as others see the account in chat; undefined where there is no homeserver. */
export function chatIdOf(username: string, serverName: string, hasHomeserver: boolean): string | undefined {
  const server = chatServerName(serverName, hasHomeserver);
  return server === undefined ? undefined : `@${username}:${server}`;
}
