import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { challengeIsOpen } from '#domain/records/liveness/passkeys.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { equalDigests } from '#platform/base/secret.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  type Attestation,
  attestationProblem,
  challengeHash,
  parseAttestation,
  type RelyingParty,
} from '#protocol/webauthn/ceremony.ts';
import { exportCredentialKey } from '#protocol/webauthn/credential-key.ts';
import type { BrowserSessionId, PasskeyId } from '#vocabulary/ids.ts';
import type { Challenge } from './challenges.ts';
import { MAX_PASSKEYS } from './passkey.ts';

export interface CompletionDeps {
  readonly database: Database;
  readonly log: Log;
  readonly party: RelyingParty;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface RegistrationResponse {
  readonly challengeId: Challenge['id'];
  /** The browser's response (`RegistrationResponseJSON`). */
  readonly response: unknown;
  /**
   * Returns the name for the passkey.
   * @param aaguid of its authenticator, if provided
   */
  readonly nameOf: (aaguid: string | undefined) => string;
  /** The session that the challenge was created for. */
  readonly sessionId: BrowserSessionId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly language: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type RegistrationOutcome =
  | { readonly ok: true; readonly id: PasskeyId }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid-response' | 'already-registered' | 'limit-reached' };

/** Adds a passkey that the browser created to the account of its session (WebAuthn 7.1). */
export async function completePasskeyRegistration(
  deps: CompletionDeps,
  response: RegistrationResponse,
): Promise<RegistrationOutcome> {
  const { database, log, party } = deps;
  const taken = await database.first(takeChallenge, {
    id: toUuid(response.challengeId),
    sessionId: toUuid(response.sessionId),
    now: new Date(response.now),
  });
  if (taken === undefined) return { ok: false, reason: 'expired' };
  const attestation = parseAttestation(response.response);
  const problem = attestation === undefined ? 'malformed' : problemOf(attestation, taken.challenge_hash, party);
  if (attestation !== undefined && problem === undefined) return await store(deps, response, attestation);
  log.info('passkey.refused', 'passkey registration refused', { code: problem });
  return { ok: false, reason: 'invalid-response' };
}

function problemOf(attestation: Attestation, expected: Buffer, party: RelyingParty) {
  const isExpected = equalDigests(challengeHash(attestation), expected);
  return isExpected ? attestationProblem(attestation, party) : 'unknown_challenge';
}

/**
 * A separate statement locks the account, so that the next one counts the passkeys that concurrent requests have
 * committed. No account can therefore exceed the limit.
 */
async function store(
  { database, sendsNotices }: CompletionDeps,
  { nameOf, sessionId, address, userAgent, language, now }: RegistrationResponse,
  { credentialId, key, authenticator, aaguid, transports }: Attestation,
): Promise<RegistrationOutcome> {
  const id = newId<'passkey'>(now);
  const name = nameOf(aaguid);
  return await database.transaction<RegistrationOutcome>(
    async (transaction) => {
      const account = await transaction.first(lockAccount, { sessionId: toUuid(sessionId) });
      if (account === undefined) return { ok: false, reason: 'expired' };
      const row = await transaction.first(insertPasskey, {
        id: toUuid(id),
        userId: account.user_id,
        credentialId,
        publicKey: exportCredentialKey(key),
        signCount: authenticator.signCount,
        transports,
        isBackedUp: authenticator.isBackedUp,
        isBackupEligible: authenticator.isBackupEligible,
        aaguid: aaguid ?? null,
        name,
        maxPasskeys: MAX_PASSKEYS,
        now: new Date(now),
        auditEventId: newAuditEventId(now),
        ip: address ?? null,
        userAgent: userAgent ?? null,
        isTold: sendsNotices,
        detail: JSON.stringify({ passkey: name }),
        language,
        queuedBy: queuedBy(),
      });
      if (row?.is_full === true) return { ok: false, reason: 'limit-reached' };
      return row?.is_inserted === true ? { ok: true, id } : { ok: false, reason: 'already-registered' };
    },
    { isRepeatable: true },
  );
}

const takeChallenge = statement<
  { challenge_hash: Buffer },
  { readonly id: string; readonly sessionId: string; readonly now: Date }
>(
  'take-challenge-of-registration',
  `delete from webauthn_challenges c
    where c.id = :id::uuid and c.purpose = 'registration' and c.user_session_id = :sessionId::uuid
      and ${challengeIsOpen('c')}
   returning c.challenge_hash`,
);

const lockAccount = statement<{ user_id: string }, { readonly sessionId: string }>(
  'lock-account-for-passkey',
  `select u.id as user_id from user_sessions s join users u on u.id = s.user_id
    where s.id = :sessionId::uuid and ${browserSessionIsLive('s')} and ${accountIsUsable('u')}
      for no key update of u`,
);

const insertPasskey = statement<
  { is_full: boolean; is_inserted: boolean },
  {
    readonly id: string;
    readonly userId: string;
    readonly credentialId: Buffer;
    readonly publicKey: Buffer;
    readonly signCount: number;
    readonly transports: readonly string[];
    readonly isBackedUp: boolean;
    readonly isBackupEligible: boolean;
    readonly aaguid: string | null;
    readonly name: string;
    readonly maxPasskeys: number;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly isTold: boolean;
    readonly detail: string;
    readonly language: string;
    readonly queuedBy: string | null;
  }
>(
  'insert-passkey',
  `with measured as (
    select count(*) >= :maxPasskeys::integer as is_full from user_passkeys k where k.user_id = :userId::uuid
  ), inserted as (
    insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, backup_eligible,
      aaguid, name, created_at)
    select :id::uuid, :userId::uuid, :credentialId::bytea, :publicKey::bytea, :signCount::bigint, :transports::text[],
           :isBackedUp::boolean, :isBackupEligible::boolean, :aaguid::uuid, :name::text, :now::timestamptz
      from measured where not measured.is_full
    on conflict (credential_id) do nothing
    returning id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'passkey_added', :userId::uuid, null, null, :ip::inet, :userAgent::text,
           :detail::jsonb, :now::timestamptz
      from inserted
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id from inserted where :isTold::boolean',
    notice: 'factor_changed',
    eventId: ':auditEventId::uuid',
    detail: `:detail::jsonb || '{"change": "passkey_added"}'::jsonb`,
    language: ':language::text',
    now: ':now::timestamptz',
  })}
  select measured.is_full, exists (select from inserted) as is_inserted from measured`,
);
