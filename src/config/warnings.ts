import type { Config } from './config.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const ADVISED_SECRET_LENGTH = 16;

/** What is allowed and still worth a word at the start. */
export function configWarnings(config: Config): string[] {
  return [...redirectWarnings(config), ...homeserverWarnings(config)];
}

function redirectWarnings({ clients }: Config): string[] {
  return clients.flatMap(({ redirectUris }, client) =>
    redirectUris.flatMap((uri, index) => {
      if (!/^http:/i.test(uri) || LOOPBACK.test(new URL(uri).hostname)) return [];
      return [`clients[${client}].redirect_uris[${index}]: http to another machine: codes travel unencrypted`];
    }),
  );
}

function homeserverWarnings({ homeserver }: Config): string[] {
  const length = homeserver.secret?.reveal().length ?? ADVISED_SECRET_LENGTH;
  if (length >= ADVISED_SECRET_LENGTH) return [];
  return [`homeserver.secret: at least ${ADVISED_SECRET_LENGTH} characters are advised`];
}
