/** Emails with the link of an invitation (administration A-17). Their job contains neither the token nor the proof. */
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { MAIL_QUEUES } from '#domain/limits/late-mails.ts';
import { registrationTokenIsValid } from '#domain/records/liveness/accounts.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { INSERT_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { RegistrationTokenId } from './change-registration-token.ts';
import { invitationProof } from './invitation.ts';
import { openRegistrationToken } from './issue-registration-token.ts';

export const INVITATION_MAIL_QUEUE = MAIL_QUEUES.invitation;

const queue = statement<
  { id: string },
  {
    readonly id: string;
    readonly now: Date;
    readonly queuedAt: string;
    readonly language: string | null;
    readonly jobId: string;
    readonly queuedBy: string | null;
  }
>(
  'queue-invitation-mail',
  `with asked as (
    update user_registration_tokens t set mail_queued_at = :now::timestamptz
     where t.id = :id::uuid and t.email is not null and ${registrationTokenIsValid('t', ':now::timestamptz')}
    returning t.id
  ), job as (
    ${INSERT_JOB}
    select :jobId::uuid, '${INVITATION_MAIL_QUEUE}', jsonb_build_object('registration_token_id', asked.id,
           'queued_at', :queuedAt::text, 'language', :language::text), null, :queuedBy::text, :now::timestamptz,
           :now::timestamptz
      from asked
  )
  select asked.id from asked`,
);

/**
 * Queues the email of an invitation. Only the link of the latest email confirms the address.
 * @param language of the email (BCP 47); undefined: the service's default
 * @returns false if the token has no address, or is not valid
 */
export async function queueInvitationMail(
  transaction: Queryable,
  {
    id,
    language,
    now,
  }: { readonly id: RegistrationTokenId; readonly language: string | undefined; readonly now: number },
): Promise<boolean> {
  const row = await transaction.first(queue, {
    id: toUuid(id),
    now: new Date(now),
    queuedAt: String(now),
    language: language ?? null,
    jobId: toUuid(newId(now)),
    queuedBy: queuedBy(),
  });
  return row !== undefined;
}

/** SQL condition: the job is that of the latest email. */
const IS_LATEST = `t.id = (:payload::jsonb ->> 'registration_token_id')::uuid
      and ${ms('t.mail_queued_at')}::text = :payload::jsonb ->> 'queued_at'`;

const read = statement<
  {
    id: string;
    token_sealed: Buffer;
    email: string;
    expires_at: number | null;
    mail_queued_at: number;
    language: string | null;
  },
  { readonly payload: string; readonly now: Date }
>(
  'read-invitation-mail',
  `select t.id, t.token_sealed, t.email, ${ms('t.expires_at')} as expires_at, ${ms('t.mail_queued_at')} as mail_queued_at,
          :payload::jsonb ->> 'language' as language
     from user_registration_tokens t
    where ${IS_LATEST} and t.email is not null and ${registrationTokenIsValid('t', ':now::timestamptz')}`,
);

export interface InvitationMail {
  readonly to: string;
  readonly language: string | undefined;
  readonly token: string;
  readonly proof: string;
  /** Milliseconds since the epoch; undefined: the invitation does not expire. */
  readonly expiresAt: number | undefined;
}

interface MailDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
}

/**
 * Returns the email to send, or undefined if the token is no longer valid or another email was queued since.
 * @param payload of the job
 */
export async function readInvitationMail(
  { database, clock, keyRing, secretKeys }: MailDeps,
  payload: unknown,
): Promise<InvitationMail | undefined> {
  const row = await database.first(read, { payload: JSON.stringify(payload), now: new Date(clock.now()) });
  if (row === undefined) return undefined;
  return {
    to: row.email,
    language: row.language ?? undefined,
    token: openRegistrationToken(keyRing, fromUuid(row.id), row.token_sealed),
    proof: invitationProof(secretKeys, row.id, row.mail_queued_at),
    expiresAt: row.expires_at ?? undefined,
  };
}

const markSent = statement<never, { readonly payload: string; readonly now: Date }>(
  'mark-invitation-sent',
  `update user_registration_tokens t set mail_sent_at = :now::timestamptz where ${IS_LATEST}`,
);

/** Records that the email was handed over. */
export async function markInvitationSent(
  { database, clock }: Pick<MailDeps, 'database' | 'clock'>,
  payload: unknown,
): Promise<void> {
  await database.execute(markSent, { payload: JSON.stringify(payload), now: new Date(clock.now()) });
}
