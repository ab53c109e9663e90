import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { hint } from '#platform/config/shape.ts';
import { choice, mapping, secret, secretFile, text } from '#platform/config/values.ts';

/** A host name, IPv4 address or bracketed IPv6 address, with an optional port. */
const SERVER_NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

export const homeserverSection = mapping({
  kind: choice(['none']).describe('What the service talks to; `none`: no calls, every user name is free.'),
  homeserver: hint(text({ maximum: 230, pattern: SERVER_NAME, expected: 'expected a server name, host[:port]' }), {
    aliases: ['server_name'],
  })
    .prefault('localhost')
    .describe('Server name in user identifiers.'),
  secret: hint(secret(), { trimmed: true })
    .optional()
    .describe('Shared with the homeserver; at least 16 characters are advised.'),
  secret_file: secretFile('secret'),
});

export function homeserverConfig(parsed: z.output<typeof homeserverSection>) {
  return {
    kind: parsed.kind,
    /** Server name of user identifiers, `host[:port]`. */
    homeserver: parsed.homeserver,
    secret: parsed.secret === undefined ? undefined : new Secret(parsed.secret),
  };
}
