import type { User } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { RelyingParty } from '#protocol/webauthn/ceremony.ts';
import { CREDENTIAL_ALGORITHMS } from '#protocol/webauthn/credential-key.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';
import { CHALLENGE_TIMEOUT_MS, type Challenge, createChallenge } from './challenges.ts';
import { listDescriptors, type PasskeyDescriptor } from './list-passkeys.ts';
import { MAX_PASSKEYS } from './passkey.ts';
import { userHandle } from './prove-passkey.ts';

/** Options for a browser to create a passkey (`PublicKeyCredentialCreationOptionsJSON`). */
export interface CreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    /** The equivalent option for browsers that implement Level 1. */
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
}

export type RegistrationStart =
  | { readonly ok: true; readonly challengeId: Challenge['id']; readonly options: CreationOptions }
  | { readonly ok: false; readonly reason: 'limit-reached' };

/**
 * Starts adding a passkey to the account of a session.
 * @param now milliseconds since the epoch
 */
export async function startPasskeyRegistration(
  { database, party, serviceName }: { database: Queryable; party: RelyingParty; serviceName: string },
  { user, sessionId, now }: { user: User; sessionId: BrowserSessionId; now: number },
): Promise<RegistrationStart> {
  const own = await listDescriptors(database, user.id);
  if (own.length >= MAX_PASSKEYS) return { ok: false, reason: 'limit-reached' };
  const holder = { kind: 'session', id: sessionId } as const;
  const challenge = await createChallenge(database, { purpose: 'registration', holder, now });
  const options: CreationOptions = {
    rp: { id: party.id, name: serviceName },
    user: {
      id: userHandle(toUuid(user.id)).toString('base64url'),
      name: user.username,
      displayName: user.displayName ?? user.username,
    },
    challenge: challenge.text,
    pubKeyCredParams: CREDENTIAL_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CHALLENGE_TIMEOUT_MS,
    excludeCredentials: own,
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  };
  return { ok: true, challengeId: challenge.id, options };
}
