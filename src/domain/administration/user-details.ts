import { personalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { groupsOfUser } from '#domain/records/user-facts.ts';
import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** How a user signs in, and what belongs to the account. Contains no secrets. Times in milliseconds since the epoch. */
export interface UserDetailsRecord {
  readonly id: string;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly time_zone: string | null;
  readonly language: string | null;
  readonly has_password: boolean;
  readonly totp: { readonly created_at: number; readonly last_used_at: number | null } | null;
  readonly recovery_codes: number;
  readonly recovery_codes_left: number;
  readonly passkeys: readonly {
    readonly id: string;
    readonly name: string;
    readonly created_at: number;
    readonly last_used_at: number | null;
  }[];
  /** All groups that clients receive. */
  readonly groups: readonly string[];
  readonly links: number;
  readonly terms: readonly { readonly uri: string; readonly at: number }[];
  /** Numbers of active sessions. */
  readonly browser: number;
  readonly oauth2: number;
  readonly compat: number;
  /** Sessions that act as the account or belong to it. */
  readonly personal: number;
  readonly last_active_at: number | null;
}

const LAST_ACTIVE = ['user_sessions', 'oauth2_sessions', 'compat_sessions']
  .map((table) => `(select max(s.last_active_at) from ${table} s where s.user_id = u.id)`)
  .join(', ');

export const userDetails = new Listing<UserDetailsRecord, Record<never, never>>('admin-user-details', {
  columns: {
    id: 'u.id',
    given_name: 'u.given_name',
    family_name: 'u.family_name',
    time_zone: 'u.time_zone',
    language: 'u.locale',
    has_password: 'exists (select from user_passwords p where p.user_id = u.id)',
    totp: `(select jsonb_build_object('created_at', ${ms('t.created_at')}, 'last_used_at', ${ms('t.last_used_at')})
      from user_totp_secrets t where t.user_id = u.id)`,
    recovery_codes: '(select count(*)::integer from user_recovery_codes c where c.user_id = u.id)',
    recovery_codes_left:
      '(select count(*)::integer from user_recovery_codes c where c.user_id = u.id and c.used_at is null)',
    passkeys: `coalesce((
      select jsonb_agg(jsonb_build_object('id', k.id, 'name', k.name, 'created_at', ${ms('k.created_at')},
                                          'last_used_at', ${ms('k.last_used_at')}) order by k.id)
        from user_passkeys k where k.user_id = u.id), '[]')`,
    groups: `array(${groupsOfUser('u.id', 'u.groups')})`,
    links: '(select count(*)::integer from upstream_links l where l.user_id = u.id)',
    terms: `coalesce((
      select jsonb_agg(jsonb_build_object('uri', a.terms_uri, 'at', ${ms('a.accepted_at')}) order by a.accepted_at)
        from user_terms a where a.user_id = u.id), '[]')`,
    browser: `(select count(*)::integer from user_sessions s where s.user_id = u.id and ${browserSessionIsLive('s')})`,
    oauth2: `(select count(*)::integer from oauth2_sessions s where s.user_id = u.id and ${oauthSessionIsLive('s')})`,
    compat: `(select count(*)::integer from compat_sessions s where s.user_id = u.id and ${compatSessionIsLive('s')})`,
    personal: `(select count(*)::integer from (${personalSessionsOfUser('u.id')}) of_user)`,
    last_active_at: ms(`greatest(${LAST_ACTIVE})`),
  },
  from: 'users u',
  filters: {},
});
