/** Listings for administrators: rows of any owner, in any state. Owns no table. */
import { accountIsDeactivated, accountIsLocked, accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface UserRecord {
  readonly id: string;
  readonly username: string;
  readonly display_name: string | null;
  /** The primary address. */
  readonly email: string | null;
  readonly created_at: number;
  readonly locked_at: number | null;
  readonly deactivated_at: number | null;
  readonly admin: boolean;
  /** A guest account of the homeserver from before it delegated sign-in. */
  readonly guest: boolean;
}

export interface UserFilters {
  readonly admin: boolean;
  readonly guest: boolean;
  readonly status: 'active' | 'locked' | 'deactivated';
  /** A `like` pattern for the lower-case username, made with `containing`. */
  readonly search: string;
  /** The same for the username, the display name and all email addresses. */
  readonly searchAnywhere: string;
  /** Users with an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean;
  /** Users who were active on this day (UTC) or later. Days are kept for a month. */
  readonly activeSince: Date;
  readonly hasOAuth2Session: boolean;
  readonly hasCompatSession: boolean;
  /** Users with a live session at any of these clients. */
  readonly clients: readonly string[];
  /** Users in this group, assigned by an administrator or a configured provider. */
  readonly group: string;
  /** Users who registered with this registration token. */
  readonly registrationToken: string;
  /** Users who list one of these names, set by an administrator. */
  readonly ownGroups: readonly string[];
  /** Users for whom a configured provider reports one of these names. */
  readonly reportedGroups: readonly string[];
  /** Either of the two. */
  readonly anyGroups: readonly string[];
}

const listsOne = (user: string, names: string) => `${user}.groups is not null and ${user}.groups && ${names}`;
const ownMembers = (names: string) => `select m.id from users m where ${listsOne('m', names)}`;
const reportedMembers = (names: string) =>
  `select l.user_id from upstream_links l join upstream_providers p on p.id = l.provider_id
    where l.groups is not null and l.user_id is not null and l.groups && ${names} and ${providerIsEnabled('p')}`;

/** An array, so that the planner looks the accounts up by ID, however many it expects. */
const idIsOneOf = (ids: string) => `u.id = any(array(${ids}))`;
const anyMembers = (names: string) => idIsOneOf(`${ownMembers(names)} union all ${reportedMembers(names)}`);
/** For counts: reads the members of a large group once, instead of looking up each. */
const isAnyMember = (names: string) => `(${listsOne('u', names)}) or ${idIsOneOf(reportedMembers(names))}`;

// The last two conditions hold for every row with a user. They make the planner use `oauth2_sessions_live_of_user`
// alone, without the table.
const HAS_OAUTH2_SESSION = `exists (select from oauth2_sessions s where s.user_id = u.id and ${oauthSessionIsLive('s')}
  and s.user_id is not null and s.created_at < 'infinity')`;
/** The last condition holds for every row. It makes the planner use `oauth2_sessions_live_of_client`. */
const USERS_OF_CLIENTS = `select distinct s.user_id from oauth2_sessions s where s.client_id = any(:clients::uuid[])
  and ${oauthSessionIsLive('s')} and s.client_id > '00000000-0000-0000-0000-000000000000'`;

export const users = new Listing<UserRecord, UserFilters>('admin-users', {
  columns: {
    id: 'u.id',
    username: 'u.username',
    display_name: 'u.display_name',
    email: `(select e.email from user_emails e where e.user_id = u.id order by ${primaryFirst('e')} limit 1)`,
    created_at: ms('u.created_at'),
    locked_at: ms('u.locked_at'),
    deactivated_at: ms('u.deactivated_at'),
    admin: 'u.can_request_admin',
    guest: 'u.is_guest',
  },
  from: 'users u',
  filters: {
    admin: eitherWay('u.can_request_admin'),
    guest: eitherWay('u.is_guest'),
    status: { active: accountIsUsable('u'), locked: accountIsLocked('u'), deactivated: accountIsDeactivated('u') },
    search: 'u.username_key like :search::text',
    searchAnywhere: `(u.username_key like :searchAnywhere::text or lower(u.display_name) like :searchAnywhere::text
      or u.id in (select e.user_id from user_emails e where e.email_key like :searchAnywhere::text))`,
    activeSince: `exists (select from user_active_days d
      where d.user_id = u.id and d.day >= (:activeSince::timestamptz at time zone 'UTC')::date)`,
    hasSecondFactor: eitherWay(`(exists (select from user_totp_secrets t where t.user_id = u.id)
      or exists (select from user_passkeys k where k.user_id = u.id))`),
    hasOAuth2Session: eitherWay(HAS_OAUTH2_SESSION),
    hasCompatSession: eitherWay(
      `exists (select from compat_sessions s where s.user_id = u.id and ${compatSessionIsLive('s')})`,
    ),
    clients: idIsOneOf(USERS_OF_CLIENTS),
    group: anyMembers('array[:group::text]'),
    ownGroups: idIsOneOf(ownMembers(':ownGroups::text[]')),
    reportedGroups: idIsOneOf(reportedMembers(':reportedGroups::text[]')),
    anyGroups: anyMembers(':anyGroups::text[]'),
    registrationToken:
      'u.id in (select used.user_id from user_registration_token_uses used where used.token_id = :registrationToken::uuid)',
  },
  countFilters: {
    group: isAnyMember('array[:group::text]'),
    ownGroups: listsOne('u', ':ownGroups::text[]'),
    anyGroups: isAnyMember(':anyGroups::text[]'),
  },
  orders: {
    id: { column: 'u.id', cursorOf: (id) => id },
    username: {
      column: 'u.username_key',
      cursorOf: (id) => `(select c.username_key from users c where c.id = ${id})`,
    },
  },
});
