import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  assertionProblem,
  type CeremonyProblem,
  challengeHash,
  parseAssertion,
  type RelyingParty,
} from '#protocol/webauthn/ceremony.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';
import {
  type ChallengeHolder,
  type ChallengePurpose,
  holderParams,
  TAKE_CHALLENGE,
  type TakeChallengeParams,
} from './challenges.ts';

export interface ProofDeps {
  readonly database: Queryable;
  readonly log: Log;
  readonly party: RelyingParty;
}

export interface PasskeyResponse {
  /** The browser's response as text (`AuthenticationResponseJSON`). */
  readonly credential: string;
  readonly holder: ChallengeHolder;
  /** Accepted purposes of the challenge, each with the required owner of the passkey. */
  readonly expects: Readonly<Partial<Record<Exclude<ChallengePurpose, 'registration'>, UserId | 'anybody'>>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A passkey that its owner has just used. The use counts once `USED_PASSKEY` has recorded it. */
export interface PasskeyProof {
  readonly passkeyId: PasskeyId;
  readonly userId: UserId;
  readonly purpose: ChallengePurpose;
  /** Its key can exist on several devices. */
  readonly isSynced: boolean;
  readonly isBackedUp: boolean;
  readonly signCount: number;
}

/** `purpose` of the challenge, if it belongs to this browser. */
export type PasskeyOutcome =
  | { readonly ok: true; readonly proof: PasskeyProof }
  | { readonly ok: false; readonly purpose: ChallengePurpose | undefined };

/** Why a response is rejected, for the log. The user only learns that it failed. */
type Refusal =
  | CeremonyProblem
  | 'malformed'
  | 'other_backup_eligibility'
  | 'unknown_challenge'
  | 'unknown_credential'
  | 'wrong_user';

interface TakenRow {
  readonly purpose: keyof PasskeyResponse['expects'];
  /** The columns of the passkey are null if no passkey has this credential ID. */
  readonly id: string | null;
  readonly user_id: string | null;
  readonly public_key: Buffer | null;
  readonly sign_count: string | null;
  readonly backup_eligible: boolean | null;
}

/** Looks up two unique keys. */
const takeChallenge = statement<TakenRow, TakeChallengeParams & { readonly credentialId: Buffer }>(
  'take-challenge-of-passkey',
  `with taken as (${TAKE_CHALLENGE})
   select taken.purpose, k.id, k.user_id, k.public_key, k.sign_count::text as sign_count, k.backup_eligible
     from taken left join user_passkeys k on k.credential_id = :credentialId::bytea`,
);

/** Verifies the response of a browser to a challenge (WebAuthn 7.2). */
export async function provePasskey(deps: ProofDeps, response: PasskeyResponse): Promise<PasskeyOutcome> {
  const { database, log, party } = deps;
  const { expects, now } = response;
  const refuse = (code: Refusal, taken?: TakenRow): PasskeyOutcome => {
    const owner = taken?.user_id == null ? undefined : fromUuid<'user'>(taken.user_id);
    log.info('passkey.refused', 'passkey refused', { code, ...(owner !== undefined && { user: owner }) });
    return { ok: false, purpose: taken?.purpose };
  };
  const assertion = parseAssertion(parseJson(response.credential));
  if (assertion === undefined) return refuse('malformed');
  const taken = await database.first(takeChallenge, {
    challengeHash: challengeHash(assertion),
    purposes: Object.keys(expects),
    ...holderParams(response.holder),
    now: new Date(now),
    credentialId: assertion.credentialId,
  });
  if (taken === undefined) return refuse('unknown_challenge');
  const { id, user_id: owner, public_key: key } = taken;
  if (id === null || owner === null || key === null) return refuse('unknown_credential', taken);
  const problem = assertionProblem(assertion, party, key);
  if (problem !== undefined) return refuse(problem, taken);
  if (!isOwner(owner, assertion.userHandle, expects[taken.purpose])) return refuse('wrong_user', taken);
  const { signCount, isBackedUp, isBackupEligible } = assertion.authenticator;
  // WebAuthn 7.2: this flag never changes, so the response comes from another authenticator.
  if (taken.backup_eligible !== null && taken.backup_eligible !== isBackupEligible) {
    return refuse('other_backup_eligibility', taken);
  }
  const proof = {
    passkeyId: fromUuid<'passkey'>(id),
    userId: fromUuid<'user'>(owner),
    purpose: taken.purpose,
    isSynced: isBackupEligible,
    isBackedUp,
    signCount,
  };
  const stored = Number(taken.sign_count);
  if (stored === 0 || signCount > stored) return { ok: true, proof };
  logCounter(log, proof);
  return { ok: false, purpose: taken.purpose };
}

/**
 * Logs that the authenticator or a copy of it has signed in the meantime: the key may have been copied (WebAuthn
 * 6.1.1).
 */
export function logCounter(log: Log, { passkeyId, userId }: Pick<PasskeyProof, 'passkeyId' | 'userId'>): void {
  log.warn('passkey.counter', 'passkey refused: its signature counter decreased; the key may have been copied', {
    user: userId,
    passkey: passkeyId,
  });
}

/** If the user is not known yet, the authenticator must name the account. */
function isOwner(owner: string, handle: Buffer | undefined, expected: UserId | 'anybody' | undefined): boolean {
  if (expected !== 'anybody' && (expected === undefined || toUuid(expected) !== owner)) return false;
  return handle === undefined ? expected !== 'anybody' : handle.equals(userHandle(owner));
}

/**
 * Returns the 16 bytes of an account's ID, which authenticators store as the user handle.
 * @param uuid in the database's format
 */
export function userHandle(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
