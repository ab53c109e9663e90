import { personalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { primaryFirst } from '#domain/records/primary-email.ts';
import { groupsOfUser } from '#domain/records/user-facts.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { type ExtraClaims, extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** What belongs to an account, for operators. Contains no secrets. */
export interface UserDescription {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Undefined if the account is not locked. */
  readonly lockedAt: number | undefined;
  readonly deactivatedAt: number | undefined;
  readonly hasPassword: boolean;
  /** Confirmed addresses: the primary one first, then the others by age. */
  readonly emails: readonly string[];
  /** All groups that applications receive, sorted. */
  readonly groups: readonly string[];
  /** Extra claims set by administrators. */
  readonly claims: ExtraClaims;
  readonly links: readonly IdentityLink[];
  /** Numbers of live sessions. */
  readonly sessions: {
    readonly browser: number;
    readonly oauth2: number;
    readonly compat: number;
    /** Sessions that act as the account or belong to it. */
    readonly personal: number;
  };
}

/** An identity at an upstream provider. */
export interface IdentityLink {
  readonly provider: string;
  readonly subject: string;
  /** The name of the account at the provider. */
  readonly accountName: string | undefined;
}

const description = statement<
  {
    created_at: number;
    locked_at: number | null;
    deactivated_at: number | null;
    has_password: boolean;
    emails: readonly string[];
    groups: readonly string[];
    claims: unknown;
    browser: number;
    oauth2: number;
    compat: number;
    personal: number;
  },
  { readonly userId: string }
>(
  'describe-user',
  `select ${ms('u.created_at')} as created_at, ${ms('u.locked_at')} as locked_at,
          ${ms('u.deactivated_at')} as deactivated_at,
          exists (select from user_passwords p where p.user_id = u.id) as has_password,
          array(select e.email from user_emails e where e.user_id = u.id order by ${primaryFirst('e')}) as emails,
          array(${groupsOfUser('u.id', 'u.groups')}) as groups, u.claims,
          (select count(*)::integer from user_sessions s
            where s.user_id = u.id and ${browserSessionIsLive('s')}) as browser,
          (select count(*)::integer from oauth2_sessions s
            where s.user_id = u.id and ${oauthSessionIsLive('s')}) as oauth2,
          (select count(*)::integer from compat_sessions s
            where s.user_id = u.id and ${compatSessionIsLive('s')}) as compat,
          (select count(*)::integer from (${personalSessionsOfUser('u.id')}) of_user) as personal
     from users u where u.id = :userId::uuid`,
);

const links = statement<
  { provider_id: string; subject: string; human_account_name: string | null },
  { readonly userId: string }
>(
  'list-links-of-user',
  `select l.provider_id, l.subject, l.human_account_name from upstream_links l
    where l.user_id = :userId::uuid order by l.created_at, l.id`,
);

export async function describeUser(queryable: Queryable, user: UserId): Promise<UserDescription | undefined> {
  const userId = toUuid(user);
  const row = await queryable.first(description, { userId });
  if (row === undefined) return undefined;
  const identities = await queryable.rows(links, { userId });
  const { browser, oauth2, compat, personal } = row;
  return {
    createdAt: row.created_at,
    lockedAt: row.locked_at ?? undefined,
    deactivatedAt: row.deactivated_at ?? undefined,
    hasPassword: row.has_password,
    emails: row.emails,
    groups: sortedGroups(row.groups),
    claims: extraClaimsFromJson(row.claims),
    links: identities.map(({ provider_id, subject, human_account_name }) => ({
      provider: fromUuid(provider_id),
      subject,
      accountName: human_account_name ?? undefined,
    })),
    sessions: { browser, oauth2, compat, personal },
  };
}
