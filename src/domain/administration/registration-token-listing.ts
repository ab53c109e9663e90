import {
  registrationTokenIsExpired,
  registrationTokenIsRevoked,
  registrationTokenIsValid,
} from '#domain/records/liveness/accounts.ts';
import { groupExists } from '#domain/records/liveness/groups.ts';
import { Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** Times in milliseconds since the epoch. */
export interface RegistrationTokenRecord {
  readonly id: string;
  /** Read with `openRegistrationToken`. */
  readonly token_sealed: Buffer;
  readonly valid: boolean;
  /** Null if the number of accounts is unlimited. */
  readonly usage_limit: number | null;
  readonly times_used: number;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  /** The only address that can register with it; null: any. */
  readonly email: string | null;
  /** Names of the groups that accounts join. */
  readonly groups: readonly string[];
  readonly note: string | null;
  /** Null for a client without a user, and an operator at the command line. */
  readonly created_by: string | null;
  readonly mail_queued_at: number | null;
  readonly mail_sent_at: number | null;
}

export interface RegistrationTokenFilters {
  /** The time of the request. Every call passes it. */
  readonly now: Date;
  readonly isUsed: boolean;
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isValid: boolean;
  /** A `like` pattern for the note and the address, made with `containing`. */
  readonly search: string;
  /** The user who created the token. */
  readonly createdBy: string;
}

const NOW = ':now::timestamptz';

export const registrationTokens = new Listing<RegistrationTokenRecord, RegistrationTokenFilters>(
  'admin-registration-tokens',
  {
    columns: {
      id: 't.id',
      token_sealed: 't.token_sealed',
      valid: registrationTokenIsValid('t', NOW),
      usage_limit: 't.usage_limit',
      times_used: 't.times_used',
      created_at: ms('t.created_at'),
      last_used_at: ms('t.last_used_at'),
      expires_at: ms('t.expires_at'),
      revoked_at: ms('t.revoked_at'),
      email: 't.email',
      groups: `array(select g.name from user_groups g
         where g.id = any(t.group_ids) and ${groupExists('g')} order by g.name collate "C")`,
      note: 't.note',
      created_by: 't.created_by',
      mail_queued_at: ms('t.mail_queued_at'),
      mail_sent_at: ms('t.mail_sent_at'),
    },
    from: 'user_registration_tokens t',
    filters: {
      now: `${NOW} is not null`,
      isUsed: '(t.times_used > 0) = :isUsed::boolean',
      isRevoked: `(${registrationTokenIsRevoked('t')}) = :isRevoked::boolean`,
      isExpired: `${registrationTokenIsExpired('t', NOW)} = :isExpired::boolean`,
      isValid: `${registrationTokenIsValid('t', NOW)} = :isValid::boolean`,
      search: '(lower(t.note) like :search::text or t.email_key like :search::text)',
      createdBy: 't.created_by = :createdBy::uuid',
    },
  },
);
