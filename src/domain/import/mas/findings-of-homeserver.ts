import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { Finding } from '../finding.ts';
import type { ImportSource } from '../source.ts';

/** More are not queried. */
const MAX_ACCOUNTS = 500;
const MAX_NAMES = 20;

/**
 * Returns locked accounts that the homeserver has deactivated: MAS only locked deactivated accounts until March 2025.
 * They are imported as locked.
 */
export async function findingsOfHomeserver(
  source: ImportSource,
  homeserver: Pick<Homeserver, 'isConnected' | 'queryUser'>,
): Promise<readonly Finding[]> {
  if (!homeserver.isConnected) return [];
  const locked = await source.rows<{ username: string }>(
    `select username from users where locked_at is not null and deactivated_at is null order by locked_at limit ${MAX_ACCOUNTS}`,
  );
  const names: string[] = [];
  for (const { username } of locked) {
    const known = await homeserver.queryUser(username, { kind: 'admin' });
    if (known.ok && known.value.isDeactivated) names.push(username);
    if (!known.ok && known.reason !== 'unknown-user') {
      return [
        {
          severity: 'warning',
          code: 'homeserver_unreachable',
          message: `the homeserver did not say whether locked accounts are deactivated there: ${known.detail}`,
        },
      ];
    }
  }
  if (names.length === 0) return [];
  return [
    {
      severity: 'warning',
      code: 'deactivated_at_homeserver',
      message: `${names.length} locked accounts are deactivated at the homeserver (${names.slice(0, MAX_NAMES).join(', ')}): they are imported as locked. To deactivate them here too, run "latchkey manage lock-user NAME --deactivate"`,
    },
  ];
}
