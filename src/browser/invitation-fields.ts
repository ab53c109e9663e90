/** The invitation in the URLs of the registration pages. */
import type { PresentedInvitation } from '#domain/accounts/registrations/invitation.ts';
import { mayBeRegistrationToken } from '#domain/accounts/registrations/registration-token.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';

const MAX_PROOF_CHARACTERS = 64;

/** Reads `token` and `proof` of a query. An impossible token is ignored. */
export function readInvitation(query: FormParameters): PresentedInvitation | undefined {
  const token = query.get('token')?.trim();
  if (token === undefined || !mayBeRegistrationToken(token)) return undefined;
  const proof = query.get('proof');
  return { token, proof: proof !== undefined && proof.length <= MAX_PROOF_CHARACTERS ? proof : undefined };
}

/** Returns an invitation as fields of a URL query. */
export function invitationFields(
  invitation: PresentedInvitation | undefined,
): readonly (readonly [name: string, value: string])[] {
  if (invitation === undefined) return [];
  const { token, proof } = invitation;
  return [['token', token], ...(proof === undefined ? [] : [['proof', proof] as const])];
}
