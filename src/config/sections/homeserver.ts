import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { choice, duration, integer, mapping, secret, secretFile, text, webUrl } from '#platform/config/values.ts';

const KINDS = ['synapse', 'synapse_modern', 'synapse_legacy', 'synapse_read_only', 'none'] as const;

/** A host name, IPv4 address or bracketed IPv6 address, with an optional port. */
const SERVER_NAME =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?$/;

export const homeserverSection = rule(
  mapping({
    kind: choice(KINDS)
      .prefault('synapse')
      .describe(
        'API of the homeserver. `synapse`, also called `synapse_modern`: the API of Synapse 1.136 or later ' +
          'with `matrix_authentication_service`. `synapse_legacy`: the admin API, for Synapse up to 1.156. ' +
          '`synapse_read_only`: as `synapse`, but changes are logged instead of sent. `none`, the default ' +
          'without this section: no homeserver, every username is available.',
      ),
    homeserver: hint(text({ maximum: 230, pattern: SERVER_NAME, expected: 'expected a server name, host[:port]' }), {
      aliases: ['server_name'],
      defaultText: '`localhost:8008`; `localhost` with the kind `none`',
    })
      .optional()
      .describe('Server name in user identifiers.'),
    endpoint: webUrl({ allowQuery: false })
      .prefault('http://localhost:8008/')
      .describe('Base URL of its API; a path in it is kept.'),
    secret: hint(secret(), { trimmed: true })
      .optional()
      .describe('Secret shared with the homeserver; required unless `kind` is `none`. Use at least 16 characters.'),
    secret_file: secretFile('secret'),
    timeout: duration('1s', '5m')
      .prefault('30s')
      .describe('Timeout of a call in background work. While a user is waiting, it is limited to a few seconds.'),
    connect_timeout: duration('1s', '1m').prefault('10s').describe('Timeout for connecting.'),
    max_concurrent: integer(1, 500)
      .prefault(50)
      .describe('Maximum number of concurrent calls per process; further calls are queued.'),
  }),
  ['kind', 'secret'],
  ({ kind, secret: given }, problem) => {
    if (kind !== 'none' && given === undefined) problem(['secret'], `missing; the kind "${kind}" needs it`);
  },
);

export function homeserverConfig(parsed: z.output<typeof homeserverSection>) {
  return {
    kind: parsed.kind === 'synapse_modern' ? ('synapse' as const) : parsed.kind,
    /** Server name of user identifiers, `host[:port]`. */
    homeserver: parsed.homeserver ?? (parsed.kind === 'none' ? 'localhost' : 'localhost:8008'),
    /** With a trailing slash. */
    endpoint: parsed.endpoint.endsWith('/') ? parsed.endpoint : `${parsed.endpoint}/`,
    secret: parsed.secret === undefined ? undefined : new Secret(parsed.secret),
    timeoutSeconds: parsed.timeout,
    connectTimeoutSeconds: parsed.connect_timeout,
    maxConcurrent: parsed.max_concurrent,
  };
}
