import { checkEmailPolicy } from '#domain/accounts/email-authentications/email-policy.ts';
import { findInvitation, type Invitation } from '#domain/accounts/registrations/invitation.ts';
import type { RegistrationTokenDeps } from '#domain/accounts/registrations/registration-token.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import type { IdentifyDeps, UnlinkedUser } from './identify-unlinked-user.ts';

export interface InvitedUser {
  readonly newcomer: UnlinkedUser;
  /** Undefined without a valid token, or with one for another address than the provider requires. */
  readonly invitation: Invitation | undefined;
}

/**
 * Applies the invitation that a user came with. An invited address replaces the one that the provider suggests, but not
 * one that the operator's settings take from the provider in any case.
 */
export async function invitedUser(
  deps: IdentifyDeps & RegistrationTokenDeps,
  newcomer: UnlinkedUser,
  { invitation: presented }: Pick<CompletedAuthorization, 'invitation'>,
  address: string | undefined,
): Promise<InvitedUser> {
  const invitation = presented === undefined ? undefined : await findInvitation(deps, presented, address);
  const invited = invitation?.email;
  if (invited === undefined) return { newcomer, invitation };
  const { email: imported } = newcomer;
  const isSame = imported?.value.email.key === invited.email.key;
  if (imported?.isFixed === true && !isSame) return { newcomer, invitation: undefined };
  const judged = await checkEmailPolicy(invited.email.address, deps.emailPolicy);
  const isVerified = invited.isProven || (isSame && imported.value.isProven);
  const problems = judged.ok ? [] : judged.problems;
  return {
    newcomer: {
      ...newcomer,
      email: { value: { email: invited.email, isProven: isVerified, problems }, isFixed: true },
    },
    invitation,
  };
}
