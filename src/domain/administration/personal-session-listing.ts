import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface PersonalSessionRecord {
  readonly id: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
  /** Exactly one of the two owners is set. */
  readonly owner_user_id: string | null;
  readonly owner_client_id: string | null;
  readonly actor_user_id: string;
  readonly human_name: string;
  readonly scope: readonly string[];
  readonly last_active_at: number | null;
  readonly last_active_ip: string | null;
  /** Expiry of its current token; null if it never expires. */
  readonly expires_at: number | null;
}

export interface PersonalSessionFilters {
  readonly ownerUser: string;
  readonly ownerClient: string;
  readonly actor: string;
  /** The session must have all of these scopes. */
  readonly scope: readonly string[];
  readonly isLive: boolean;
  readonly expiresBefore: Date;
  readonly expiresAfter: Date;
  readonly expires: boolean;
}

export const personalSessions = new Listing<PersonalSessionRecord, PersonalSessionFilters>('admin-personal-sessions', {
  columns: {
    id: 's.id',
    created_at: ms('s.created_at'),
    revoked_at: ms('s.revoked_at'),
    owner_user_id: 's.owner_user_id',
    owner_client_id: 's.owner_client_id',
    actor_user_id: 's.actor_user_id',
    human_name: 's.human_name',
    scope: 's.scope',
    last_active_at: ms('s.last_active_at'),
    last_active_ip: 'host(s.last_active_ip)',
    expires_at: ms('s.expires_at'),
  },
  from: 'personal_sessions s',
  filters: {
    ownerUser: 's.owner_user_id = :ownerUser::uuid',
    ownerClient: 's.owner_client_id = :ownerClient::uuid',
    actor: 's.actor_user_id = :actor::uuid',
    scope: 's.scope @> :scope::text[]',
    isLive: eitherWay(personalSessionIsLive('s')),
    expiresBefore: 's.expires_at < :expiresBefore::timestamptz',
    expiresAfter: 's.expires_at > :expiresAfter::timestamptz',
    expires: eitherWay('s.expires_at is not null'),
  },
});
