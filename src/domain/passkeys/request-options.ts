import type { Queryable } from '#platform/postgres/database.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { CHALLENGE_TIMEOUT_MS, type ChallengeHolder, type ChallengePurpose, createChallenge } from './challenges.ts';
import { listDescriptors, type PasskeyDescriptor } from './list-passkeys.ts';

/** Options for a browser to request a passkey (`PublicKeyCredentialRequestOptionsJSON`). */
export interface RequestOptions {
  readonly challenge: string;
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly PasskeyDescriptor[];
  readonly userVerification: 'required';
}

export interface PasskeyRequest {
  readonly purpose: Exclude<ChallengePurpose, 'registration'>;
  readonly holder: ChallengeHolder;
  /**
   * The user whose passkeys the browser may offer. Undefined for any user, so that the response does not reveal whether
   * an account exists.
   */
  readonly user: UserId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export async function requestPasskey(
  queryable: Queryable,
  party: RelyingParty,
  request: PasskeyRequest,
): Promise<RequestOptions> {
  const challenge = await createChallenge(queryable, request);
  return {
    challenge: challenge.text,
    timeout: CHALLENGE_TIMEOUT_MS,
    rpId: party.id,
    allowCredentials: request.user === undefined ? [] : await listDescriptors(queryable, request.user),
    userVerification: 'required',
  };
}
